package compare

import (
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

const (
	// maxWord bounds a word, in bytes; maxWords how many are told apart.
	maxWord  = 80
	maxWords = 1 << 16
)

// stringTable keeps short texts that rows repeat once each. Beyond maxWords the rest are
// one: texts of a model must not fill the memory.
type stringTable struct {
	list  []string
	index map[[2]string]uint32
}

func newStringTable() stringTable { return stringTable{index: map[[2]string]uint32{}} }

// number is the place in the list of a text in two parts, the second of which may be
// empty.
func (w *stringTable) number(first, second string) uint32 {
	key := [2]string{clip.FirstBytes(first, maxWord), clip.FirstBytes(second, maxWord)}
	if i, ok := w.index[key]; ok {
		return i
	}
	if len(w.list) >= maxWords {
		key = [2]string{"something else"}
		if i, ok := w.index[key]; ok {
			return i
		}
	}
	key = [2]string{strings.Clone(key[0]), strings.Clone(key[1])} // rows can be let go
	i := uint32(len(w.list))
	w.index[key] = i
	w.list = append(w.list, strings.TrimSpace(key[0]+" "+key[1]))
	return i
}
