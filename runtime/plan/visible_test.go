package plan

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"transect/client"
	"transect/client/declare"
)

// Names, positions and values of a plan forge no line and reach no terminal as they are.
func TestPlansAreVisible(t *testing.T) {
	const hostile = "x\x1b[2J\nforged\u202e"
	write := func(n int, kind Kind, things string) *Write {
		return &Write{Number: n, Operation: hostile, Kind: kind, Things: things, Name: hostile, In: hostile, Position: hostile,
			File: hostile, Key: hostile, Arguments: []byte(`{"x\nforged": "` + "\u202e" + `"}`)}
	}
	p := &Plan{Head: Head{ID: hostile, Guess: hostile, Script: hostile, Arguments: []string{hostile}}, file: hostile,
		Effects: []Effect{{What: hostile, Position: hostile}}, Writes: []*Write{write(1, Create, hostile), write(2, Change, hostile),
			write(3, Delete, hostile), write(4, Send, hostile), write(5, Order, hostile), write(6, Create, hostile)},
		Reads: []*Read{{Operation: hostile, Position: hostile}}, Files: []File{{Path: hostile}}, Code: []Code{{File: hostile}}}
	var out bytes.Buffer
	p.Print(&out)
	p.PrintDifference(&out, &Plan{})
	result := Result{Missing: p.Writes, Lost: p.Writes, LeftOut: p.Effects}
	lines, _ := p.Lines(100)
	for _, line := range lines {
		out.WriteString(strings.Join(append(line.Names, line.Text, line.Position), " ") + "\n")
	}
	g := &Gate{Plan: p}
	g.Open(noNotes{})
	spec := client.Declarations()[0].Ops()[0]
	for _, w := range p.Writes {
		w.Operation = spec.FullName()
	}
	refused := g.unplanned(declare.At(context.Background(), hostile), &declare.Call{Spec: spec}, part{arguments: map[string]any{"y\nforged": 1}})
	texts := []string{out.String(), result.Text(), p.Doubt(), p.Refresh(), refused.Error(),
		g.CheckFiles(func(string) ([]byte, error) { return nil, nil }).Error(), p.drifted([]string{hostile}).Error()}
	for _, text := range texts {
		if strings.ContainsAny(text, "\x1b\u202e\r") || strings.Contains(text, "\nforged") {
			t.Errorf("%q", text)
		}
	}
}
