package compare

import (
	"strings"
	"unicode/utf8"
)

const (
	// maxWord bounds a word, in bytes; maxWords how many are told apart.
	maxWord  = 80
	maxWords = 1 << 16
)

// words keeps short texts that rows repeat once each. Beyond maxWords the rest are
// one: texts of a model must not fill the memory.
type words struct {
	list  []string
	index map[string]uint32
}

func newWords() words { return words{index: map[string]uint32{}} }

// number is the place of a text in the list.
func (w *words) number(text string) uint32 {
	if len(text) > maxWord {
		n := maxWord
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n] + "…"
	}
	if i, ok := w.index[text]; ok {
		return i
	}
	if len(w.list) >= maxWords {
		text = "something else"
		if i, ok := w.index[text]; ok {
			return i
		}
	}
	text = strings.Clone(text) // rows can be let go
	i := uint32(len(w.list))
	w.list = append(w.list, text)
	w.index[text] = i
	return i
}
