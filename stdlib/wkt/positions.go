package wkt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// positions reads the coordinates of one geometry.
type positions struct {
	*reader
	said  dimensions
	multi bool // a list of points, each in brackets or not
}

// nested reads lists of positions of a depth, and the measures in them.
func (p *positions) nested(depth int) (coordinates, measures any, err error) {
	if depth == 0 {
		return p.point()
	}
	list, marks := []any{}, []any{}
	err = p.list(func() error {
		if p.multi {
			before := p.at
			if word := p.word(); word == "EMPTY" { // a point without a place
				return nil
			}
			p.at = before
		}
		var c, m any
		var err error
		if depth == 1 && (!p.multi || !p.opens()) {
			c, m, err = p.position()
		} else {
			c, m, err = p.nested(depth - 1)
		}
		list, marks = append(list, c), append(marks, m)
		return err
	})
	return list, marks, err
}

func (p *positions) opens() bool {
	p.space()
	return p.at < len(p.text) && p.text[p.at] == '('
}

// point reads one position in brackets, or EMPTY.
func (p *positions) point() (coordinates, measure any, err error) {
	before := p.at
	if p.word() == "EMPTY" {
		return []any{}, []any{}, nil
	}
	p.at = before
	if !p.next('(') {
		return nil, nil, p.wrong("( or EMPTY")
	}
	if coordinates, measure, err = p.position(); err == nil && !p.next(')') {
		err = p.wrong(")")
	}
	return coordinates, measure, err
}

// position reads the numbers of one; the first decides how many there are.
func (p *positions) position() (coordinates, measure any, err error) {
	var numbers []any
	for len(numbers) < 4 {
		p.space()
		start := p.at
		for p.at < len(p.text) && strings.IndexByte("+-.0123456789eE", p.text[p.at]) >= 0 {
			p.at++
		}
		if start == p.at {
			break
		}
		n, err := strconv.ParseFloat(p.text[start:p.at], 64)
		if err != nil || math.IsInf(n, 0) {
			p.at = start
			return nil, nil, p.wrong("a number")
		}
		numbers = append(numbers, n)
	}
	if len(numbers) < 2 {
		return nil, nil, p.wrong("a number")
	}
	if p.said == unsaid {
		p.said = map[int]dimensions{2: {2, -1}, 3: {3, -1}, 4: {4, 3}}[len(numbers)]
	}
	if len(numbers) != p.said.numbers {
		return nil, nil, fmt.Errorf("the position that ends at character %d has %d numbers, not %d", p.at, len(numbers), p.said.numbers)
	}
	if at := p.said.measure; at >= 0 {
		return numbers[:at:at], numbers[at], nil
	}
	return numbers, nil, nil
}
