package playbook

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Within returns the request of a task that a text has somewhere, the longest if it has
// several: what an agent put words of its own around, or into JSON. given are the inputs
// that the text has as JSON behind their names. Of a batch the request is the template.
func (b *Book) Within(text string) (request string, given map[string]json.RawMessage, ok bool) {
	whole := plain(text)
	if at := strings.IndexByte(text, '{'); at >= 0 {
		whole += strings.Join(stringsOf(text[at:]), "\n")
	}
	var found *Play
	for _, p := range b.Plays() {
		if (found == nil || len(p.request) > len(found.request)) && holds(whole, p.request) {
			found = p
		}
	}
	if found == nil {
		return "", nil, false
	}
	given = map[string]json.RawMessage{}
	for _, name := range found.task.Inputs {
		at := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `"?\s*[:=]\s*(?:<data>)?`).FindStringIndex(text)
		var value json.RawMessage
		if at != nil && json.NewDecoder(strings.NewReader(text[at[1]:])).Decode(&value) == nil {
			given[name] = value
		}
	}
	return found.task.Request, given, true
}

// stringsOf are the texts, made plain, of the JSON value that a text begins with.
func stringsOf(text string) (out []string) {
	for dec := json.NewDecoder(strings.NewReader(text)); ; {
		token, err := dec.Token()
		if err != nil {
			return out
		}
		if s, ok := token.(string); ok {
			out = append(out, plain(s))
		}
	}
}

// aWord is the most bytes of a request that could be a part of a longer word.
const aWord = 16

// holds reports whether a text has a part; a short one must be words of its own.
func holds(text, part string) bool {
	for from := 0; part != ""; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			break
		}
		at, end := from+i, from+i+len(part)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, size := utf8.DecodeRuneInString(text[end:])
		if len(part) > aWord || !inWord(before) && !inWord(after) {
			return true
		}
		from = end + size
	}
	return false
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
