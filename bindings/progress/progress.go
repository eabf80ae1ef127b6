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

// Module has operations of b that move one file show their progress on a terminal, once it takes long and unless
// something else is shown. There is no module.
func Module(b *bindings.Binding) *module.Module {
	b.Before = append(b.Before, show)
	return nil
}

func show(ctx context.Context, call bindings.Call) (context.Context, func(), error) {
	console, _ := call.In.Options().Stderr.(*vm.Console)
	if !call.Spec.Transfers() || console == nil {
		return ctx, func() {}, nil
	}
	if _, terminal := console.Terminal(); !terminal {
		return ctx, func() {}, nil
	}
	in := call.In
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
	moved := client.TransferOptions{Progress: func(delta int64) {
		bytes.Add(delta)
		in.Transferred(delta)
	}}
	return client.WithTransfers(ctx, moved), func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if ended = true; shown != nil {
			shown.Finish()
		}
	}, nil
}

// fileOf is the name and the size of the file that an operation sends; the name of the
// operation and 0 where it receives one.
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
