// Package progress shows the progress of operations that move one file.
package progress

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"transect/bindings"
	"transect/client"
	"transect/runtime/meter"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// longTransfer is how long a single transfer takes before its progress is shown.
const longTransfer = 2 * time.Second

// Show is an extension without a module: operations of b that move one file show their progress on a terminal, once
// they take long and unless something else is shown.
func Show(b *bindings.Binding) *module.Module {
	b.Around = append(b.Around, show)
	return nil
}

func show(ctx context.Context, call bindings.Call, next func(context.Context) error) error {
	in := call.In
	console, _ := in.Options().Stderr.(*vm.Console)
	if !call.Spec.Transfers() || console == nil {
		return next(ctx)
	}
	if _, terminal := console.Terminal(); !terminal {
		return next(ctx)
	}
	label, size := fileOf(call)
	var bytes atomic.Int64
	var mu sync.Mutex
	var shown *meter.Meter
	ended := false
	timer := time.AfterFunc(longTransfer, func() {
		mu.Lock()
		defer mu.Unlock()
		if ended || in.OpenDisplays() > 0 {
			return
		}
		shown = meter.Start(in, meter.Options{Label: label, Brief: true, Read: func() meter.Reading {
			n := bytes.Load()
			return meter.Reading{Bytes: n, TotalBytes: size, Transferred: n}
		}})
	})
	defer func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if ended = true; shown != nil {
			shown.Finish()
		}
	}()
	return next(client.WithTransfers(ctx, client.TransferOptions{Progress: func(delta int64) {
		bytes.Add(delta)
		in.Transferred(delta)
	}}))
}

// fileOf returns the name and the size of the file that an operation sends; the name of the operation and 0 if it
// receives one.
func fileOf(call bindings.Call) (label string, size int64) {
	for _, p := range call.Spec.Params {
		path, ok := call.Args[p.Name].(string)
		if !ok || p.Type != "path" {
			continue
		}
		if info, err := call.In.Stat(path); err == nil && info.Mode().IsRegular() {
			return filepath.Base(path), info.Size()
		}
	}
	return call.Spec.FullName(), 0
}
