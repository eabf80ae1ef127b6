// Command transect runs Lua workflows against a geospatial platform.
package main

import "os"

func main() { os.Exit(execute(processWorld())) }
