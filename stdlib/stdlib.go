// Package stdlib holds the Lua modules that know nothing of the platform.
// Each is one declaration: functions, arguments, documentation. The folder
// examples shows each function in use.
package stdlib

import (
	"embed"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
)

//go:embed examples/*.lua
var exampleFiles embed.FS

// Examples are the examples of all functions and methods.
var Examples = sync.OnceValue(func() map[string]module.Example { return module.ReadExamples(exampleFiles) })

// Modules lists every module, in the order the reference shows them.
func Modules() []*module.Module {
	return []*module.Module{
		jsonModule, fsModule, pathModule, logModule, timeModule, taskModule,
		scriptModule, progressModule, templateModule, hashModule, imageryModule, inspectModule, semverModule, testModule,
		csvModule, envModule, httpModule, geoModule, notifyModule, retryModule, stateModule,
	}
}

// secondsParam declares an argument that Call.Seconds reads.
func secondsParam(p module.Param) module.Param {
	p.Type, p.Min, p.Max = "number", schema.Bound(0), schema.Bound(1e9)
	return p
}

var atLeastOne = schema.Bound(1)

// seconds reads an argument given in seconds.
func seconds(c *module.Call, name string) (time.Duration, error) {
	n := c.Number(name)
	if n != n || n < 0 || n > 1e9 {
		return 0, fault.Of(&fault.ParameterError{}, "argument %s must be between 0 and 1e9 seconds, got %v", name, n)
	}
	return time.Duration(n * float64(time.Second)), nil
}

func luaValues(list []lua.LValue) module.Values {
	values := make(module.Values, len(list))
	for i, v := range list {
		values[i] = v
	}
	return values
}
