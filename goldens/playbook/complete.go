package playbook

import (
	"encoding/json"
	"slices"
	"strings"
)

// CompleteJSON returns a JSON value whose end may have been cut off, as prompts do: what is incomplete
// is left out. ok is false if nothing is left.
func CompleteJSON(text string) (value string, ok bool) {
	if json.Valid([]byte(text)) {
		return text, true
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var open []byte // the closers that are due
	var keyed []bool
	good, closers := 0, ""
	at, due := 0, "" // of the value read last: a number may go on
	for {
		t, err := dec.Token()
		if err != nil {
			break
		}
		good, closers = at, due
		top := len(open) - 1
		key := top >= 0 && open[top] == '}' && !keyed[top]
		switch d, _ := t.(json.Delim); d {
		case '{', '[':
			open, keyed = append(open, byte(d)+2), append(keyed, false)
		case '}', ']':
			open, keyed = open[:top], keyed[:top]
			key = false
			top--
		}
		if top >= 0 && open[top] == '}' {
			keyed[top] = key
		}
		if !key {
			at = int(dec.InputOffset())
			closing := slices.Clone(open)
			slices.Reverse(closing)
			due = string(closing)
		}
	}
	value = text[:good] + closers
	return value, good > 0 && json.Valid([]byte(value))
}
