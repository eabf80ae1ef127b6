package ingest

// labels are texts with a number each; that of "" is 0.
type labels struct {
	texts   []string
	numbers map[string]int32
}

func (l *labels) number(text string) int32 {
	if l.numbers == nil {
		l.texts, l.numbers = []string{""}, map[string]int32{"": 0}
	}
	n, known := l.numbers[text]
	if !known {
		n = int32(len(l.texts))
		l.texts = append(l.texts, text)
		l.numbers[text] = n
	}
	return n
}

func (l *labels) text(number int32) string {
	if number == 0 {
		return ""
	}
	return l.texts[number]
}
