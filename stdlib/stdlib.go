// Package stdlib holds the Lua modules that do not depend on the platform. Each is one declaration:
// functions, arguments, documentation. The folder examples shows each function in use.
package stdlib

import (
	"embed"

	"transect/runtime/module"
)

// Examples are the examples of all functions and methods; see package examples.
//
//go:embed examples/*.lua
var Examples embed.FS

// Modules lists every module, in the order of the reference. Their functions exist after Declare.
func Modules() []*module.Module {
	return []*module.Module{
		jsonModule, fsModule, pathModule, logModule, timeModule, taskModule,
		scriptModule, progressModule, templateModule, hashModule, imageryModule, inspectModule, semverModule, testModule,
		csvModule, envModule, httpModule, geoModule, notifyModule, retryModule, stateModule, runModule, jobsModule,
	}
}

// secondsParam declares an argument that Call.Seconds reads.
func secondsParam(p module.Param) module.Param {
	p.Type, p.Min, p.Max = "number", new(0.0), new(1e9)
	return p
}
