package bindings

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"transect/client/declare"
	"transect/runtime/meter"
	"transect/runtime/vm"
)

// longTransfer is how long a single transfer takes before its progress is shown.
const longTransfer = 2 * time.Second

// showTransfer shows the progress of an operation that transfers one file, on a terminal, once it takes long
// and unless another progress is shown. moved counts bytes, end ends the display.
func showTransfer(in *vm.Interp, s *declare.Spec, args map[string]any) (moved func(delta int64), end func()) {
	console, _ := in.Options().Stderr.(*vm.Console)
	if !s.Transfers() || console == nil {
		return in.Transferred, func() {}
	}
	if _, terminal := console.Terminal(); !terminal {
		return in.Transferred, func() {}
	}
	label, size := fileOf(in, s, args)
	var bytes atomic.Int64
	var mu sync.Mutex
	var show *meter.Meter
	ended := false
	timer := time.AfterFunc(longTransfer, func() {
		mu.Lock()
		defer mu.Unlock()
		if ended || in.OpenDisplays() > 0 {
			return
		}
		show = meter.Start(in, meter.Options{Label: label, Brief: true, Read: func() meter.Reading {
			n := bytes.Load()
			return meter.Reading{Bytes: n, TotalBytes: size, Transferred: n}
		}})
	})
	moved = func(delta int64) {
		bytes.Add(delta)
		in.Transferred(delta)
	}
	return moved, func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if ended = true; show != nil {
			show.Finish()
		}
	}
}

// fileOf returns name and size of the file that an operation sends; the name of the operation and 0 for one
// that receives.
func fileOf(in *vm.Interp, s *declare.Spec, args map[string]any) (label string, size int64) {
	for _, p := range s.Params {
		path, ok := args[p.Name].(string)
		if !ok || p.Type != "path" {
			continue
		}
		if info, err := in.Stat(path); err == nil && info.Mode().IsRegular() {
			return filepath.Base(path), info.Size()
		}
	}
	return s.FullName(), 0
}
