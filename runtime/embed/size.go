package embed

import (
	"cmp"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/table"
	"transect/runtime/engine/thread"
)

// What values take, in bytes: about, since the engine and Go round up.
const (
	slotSize   = 16  // of a list or a stack
	keySize    = 128 // a key of a table with its value
	objectSize = 96  // a table, a function or other object without what it holds
	threadSize = 1 << 10
	shortText  = 128     // texts are counted each time up to this length, once beyond
	manyTexts  = 1 << 12 // are merged at a time
)

// sizing goes through the values that an interpreter's scripts can reach. Only one does at a time in a process:
// it keeps note of each object.
type sizing struct {
	sum     uint64
	seen    map[unsafe.Pointer]struct{}
	pending []lua.LValue
	texts   []string // the long ones, which may be parts of one another
	next    int      // number of texts to merge
	long    uint64   // bytes of those merged
}

var sizings sync.Mutex

// size returns how many bytes the values take that others lead to, about, and at most little more than most. What Go
// functions hold for a script besides is not seen.
func size(from []lua.LValue, most uint64) uint64 {
	sizings.Lock()
	defer sizings.Unlock()
	s := &sizing{seen: map[unsafe.Pointer]struct{}{}, next: manyTexts}
	s.add(from...)
	for len(s.pending) > 0 && s.sum+s.long <= most {
		v := s.pending[len(s.pending)-1]
		s.pending = s.pending[:len(s.pending)-1]
		s.inside(v)
		if len(s.texts) >= s.next {
			s.merge()
		}
	}
	s.merge()
	return s.sum + s.long
}

// add counts values, and notes objects to be looked into.
func (s *sizing) add(values ...lua.LValue) {
	for _, v := range values {
		var at unsafe.Pointer
		switch v := v.(type) {
		case lua.LString:
			if s.sum += slotSize; len(v) > shortText {
				s.texts = append(s.texts, string(v))
			} else {
				s.sum += uint64(len(v))
			}
		case lua.LNumber:
			s.sum += slotSize / 2
		case *lua.LTable:
			at = unsafe.Pointer(v)
		case *lua.LFunction:
			at = unsafe.Pointer(v)
		case *lua.LUserData:
			at = unsafe.Pointer(v)
		case *lua.LState:
			at = unsafe.Pointer(v)
		}
		if at == nil {
			continue
		}
		if _, known := s.seen[at]; !known {
			s.seen[at] = struct{}{}
			s.sum += objectSize
			s.pending = append(s.pending, v)
		}
	}
}

// inside adds what an object holds.
func (s *sizing) inside(v lua.LValue) {
	switch v := v.(type) {
	case *lua.LTable:
		array, keys := table.Slots(v)
		s.sum += uint64(array)*slotSize + uint64(keys)*keySize
		s.add(v.Metatable)
		v.ForEach(func(key, value lua.LValue) { s.add(key, value) })
	case *lua.LFunction:
		s.add(v.Env)
		for _, up := range v.Upvalues {
			s.sum += slotSize * 4
			if up != nil {
				s.add(up.Value())
			}
		}
	case *lua.LUserData:
		s.add(v.Env, v.Metatable)
		s.sum += held(v.Value)
	case *lua.LState:
		stack, room := thread.Stack(v)
		s.sum += threadSize + uint64(room)*slotSize
		s.add(stack...)
		s.add(v.Env)
	}
}

// merge joins the long texts that are parts of one another, and counts what they take.
func (s *sizing) merge() {
	start := func(t string) uintptr { return uintptr(unsafe.Pointer(unsafe.StringData(t))) }
	slices.SortFunc(s.texts, func(a, b string) int { return cmp.Compare(start(a), start(b)) })
	s.long = 0
	apart := s.texts[:0]
	for _, t := range s.texts {
		if n := len(apart); n > 0 && start(t) <= start(apart[n-1])+uintptr(len(apart[n-1])) {
			last := &apart[n-1]
			length := max(uintptr(len(*last)), start(t)+uintptr(len(t))-start(*last))
			s.long += uint64(length) - uint64(len(*last))
			*last = unsafe.String(unsafe.StringData(*last), length)
			continue
		}
		s.long += uint64(len(t))
		apart = append(apart, t)
	}
	s.texts, s.next = apart, 2*len(apart)+manyTexts
}

// held returns the length of the texts and lists that a Go value holds itself.
func held(v any) (sum uint64) {
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Pointer && !r.IsNil() {
		r = r.Elem()
	}
	one := func(r reflect.Value) {
		switch r.Kind() {
		case reflect.String:
			sum += uint64(r.Len())
		case reflect.Slice:
			sum += uint64(r.Cap()) * uint64(r.Type().Elem().Size())
		}
	}
	one(r)
	if r.Kind() == reflect.Struct {
		for i := range r.NumField() {
			one(r.Field(i))
		}
	}
	return sum
}
