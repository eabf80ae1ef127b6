package profile

import (
	"compress/gzip"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"transect/runtime/vm"
)

// WritePprof writes the format of go tool pprof: for each stack how often it waited,
// and its time by kind. The package that reads the format compiles thirty regular
// expressions when a program starts, so the messages are written here.
// https://github.com/google/pprof/blob/main/proto/profile.proto
func (r *Recorder) WritePprof(w io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &pprof{texts: map[string]uint64{}, functions: map[vm.CallFrame]uint64{}, locations: map[vm.CallFrame]uint64{}}
	p.text("")
	for i, name := range Names {
		p.message(1, p.valueType(name, "nanoseconds"))
		if Kind(i) == Lua {
			p.number(14, p.text(name)) // what is shown first
		}
	}
	p.message(1, p.valueType("waits", "count"))
	r.root.visit(nil, func(stack []vm.CallFrame, n *node) {
		if n.spent != (Spent{}) && len(stack) > 0 {
			p.sample(stack, n)
		}
	})
	p.number(9, uint64(r.Began.UnixNano()))
	p.number(10, uint64(r.took))
	zip := gzip.NewWriter(w)
	if _, err := zip.Write(p.out); err != nil {
		return err
	}
	return zip.Close()
}

// pprof is a profile on its way to a file. Its field numbers are from profile.proto.
type pprof struct {
	out                  []byte
	texts                map[string]uint64
	functions, locations map[vm.CallFrame]uint64
}

func (p *pprof) message(field protowire.Number, m []byte) {
	p.out = protowire.AppendBytes(protowire.AppendTag(p.out, field, protowire.BytesType), m)
}

func (p *pprof) number(field protowire.Number, n uint64) { p.out = number(p.out, field, n) }

func number(m []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), n)
}

func (p *pprof) text(s string) uint64 {
	n, ok := p.texts[s]
	if !ok {
		n = uint64(len(p.texts))
		p.texts[s] = n
		p.message(6, []byte(s))
	}
	return n
}

func (p *pprof) valueType(name, unit string) []byte {
	return number(number(nil, 1, p.text(name)), 2, p.text(unit))
}

func (p *pprof) sample(stack []vm.CallFrame, n *node) {
	var m []byte
	for _, f := range slices.Backward(stack) {
		m = number(m, 1, p.location(f))
	}
	for _, d := range n.spent {
		m = number(m, 2, uint64(d))
	}
	p.message(2, number(m, 2, uint64(n.count)))
}

func (p *pprof) location(f vm.CallFrame) uint64 {
	id, ok := p.locations[f]
	if !ok {
		id = uint64(len(p.locations) + 1)
		p.locations[f] = id
		line := number(number(nil, 1, p.function(f)), 2, uint64(f.Line))
		m := protowire.AppendTag(number(nil, 1, id), 4, protowire.BytesType)
		p.message(4, protowire.AppendBytes(m, line))
	}
	return id
}

func (p *pprof) function(f vm.CallFrame) uint64 {
	f.Line = 0
	id, ok := p.functions[f]
	if !ok {
		id = uint64(len(p.functions) + 1)
		p.functions[f] = id
		name := p.text(f.Function)
		m := number(number(number(nil, 1, id), 2, name), 3, name)
		p.message(5, number(number(m, 4, p.text(f.File)), 5, uint64(f.Begins)))
	}
	return id
}
