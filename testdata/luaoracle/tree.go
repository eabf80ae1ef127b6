package luaoracle

import "strings"

// kind says what a node may be replaced by when a program is shrunk.
type kind byte

const (
	token     kind = iota // stays as it is
	block                 // statements, each of which can go
	statement             // may become the statements of a block inside
	value                 // may become an expression inside, or a constant
	values                // a list of expressions, each of which can go
)

// node is a part of a program.
type node struct {
	kind kind
	text string // of a leaf
	kids []*node
}

func leaf(text string) *node { return &node{text: text} }

// tree makes a node of texts and nodes.
func tree(k kind, parts ...any) *node {
	n := &node{kind: k}
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			n.kids = append(n.kids, leaf(p))
		case *node:
			n.kids = append(n.kids, p)
		}
	}
	return n
}

// String is the source.
func (n *node) String() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	b.WriteString(n.text)
	for i, kid := range n.kids {
		if n.kind == values && i > 0 {
			b.WriteString(", ")
		}
		kid.write(b)
		if n.kind == block {
			b.WriteString("\n")
		}
	}
}

// all lists a node and what is in it, the outer before the inner.
func (n *node) all() []*node {
	list := []*node{n}
	for _, kid := range n.kids {
		list = append(list, kid.all()...)
	}
	return list
}

// Shrink makes a program smaller as long as differs says that it still differs.
func Shrink(program *node, differs func(code string) bool) string {
	budget := 1500
	still := func() bool {
		budget--
		return budget > 0 && differs(program.String())
	}
	for changed := true; changed && budget > 0; {
		changed = false
		for _, n := range program.all() {
			changed = shrinkNode(n, still) || changed
		}
	}
	return program.String()
}

func shrinkNode(n *node, still func() bool) (changed bool) {
	switch n.kind {
	case block, values:
		for size := len(n.kids); size > 0; size /= 2 {
			for at := 0; at+size <= len(n.kids); {
				before := n.kids
				n.kids = append(append([]*node(nil), before[:at]...), before[at+size:]...)
				if still() {
					changed = true
				} else {
					n.kids = before
					at += size
				}
			}
		}
	case statement:
		for _, inner := range n.all()[1:] {
			if inner.kind == block && n.kind == statement && len(inner.kids) > 0 {
				before := *n
				*n = node{kind: block, kids: inner.kids}
				if still() {
					return true
				}
				*n = before
			}
		}
	case value:
		if len(n.kids) == 0 {
			return false
		}
		before := *n
		for _, text := range []string{"nil", "1", `"a"`} {
			*n = node{kind: value, text: text}
			if still() {
				return true
			}
			*n = before
		}
		for _, inner := range before.all()[1:] {
			if inner.kind == value {
				*n = *inner
				if still() {
					return true
				}
				*n = before
			}
		}
	}
	return changed
}
