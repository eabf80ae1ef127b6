package runtime

func openFiles() int { return -1 }

func startedPrograms() bool { return true }
