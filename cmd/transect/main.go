// Command transect runs Lua workflows against a geospatial platform.
package main

import "os"

func main() {
	collectLess()
	os.Exit(execute(processWorld()))
}
