package repl

import "os"

func quiet(*os.File) error { return nil }
