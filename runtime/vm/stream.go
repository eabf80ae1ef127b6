package vm

func (in *Interp) openStreams() {}
