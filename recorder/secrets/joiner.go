package secrets

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// maxJSONDepth bounds the nesting of events.
const maxJSONDepth = 64

// streamJoiner joins the strings of JSON events by their paths. It also accepts invalid JSON,
// because a stream may be truncated, and some end in [DONE]. A decoder of jsontext rejects both
// and takes more than three times as long.
type streamJoiner struct {
	at    map[string]*fieldText
	order []*fieldText

	s     string // the event
	i     int    // offset of the next byte
	inner bool   // it was encoded in base64
	path  []byte
	// exact has the indexes of lists and the values of members named index along path.
	exact []byte
	key   []byte
}

// fieldText has the joined strings of one field. The strings of an exact field are also part of
// those of its path, which is its parent.
type fieldText struct {
	key    string
	text   []byte
	n      int
	parent *fieldText
}

// event adds the strings of a JSON object or array and returns the length of that.
func (j *streamJoiner) event(s string) (n int, ok bool) {
	if s == "" || s[0] != '{' && s[0] != '[' {
		return 0, false
	}
	j.s, j.i = s, 0
	j.path, j.exact = j.path[:0], j.exact[:0]
	ok = j.value(0)
	return j.i, ok
}

func (j *streamJoiner) value(depth int) bool {
	j.space()
	if depth > maxJSONDepth || j.i == len(j.s) {
		return false
	}
	switch j.s[j.i] {
	case '"':
		text, ok := j.text()
		if ok {
			j.add(text)
		}
		return ok
	case '{':
		return j.object(depth)
	case '[':
		return j.array(depth)
	}
	return j.scalar() != ""
}

func (j *streamJoiner) object(depth int) bool {
	path, exact := len(j.path), len(j.exact)
	defer func() { j.path, j.exact = j.path[:path], j.exact[:exact] }()
	j.i++
	if j.space(); j.next('}') {
		return true
	}
	for {
		j.space()
		name, ok := j.text()
		if j.space(); !ok || !j.next(':') {
			return false
		}
		j.path = append(append(j.path[:path], '/'), name...)
		if j.space(); strings.HasSuffix(name, "ndex") && j.i < len(j.s) && j.s[j.i] >= '0' && j.s[j.i] <= '9' {
			j.exact = append(append(j.exact, '#'), j.scalar()...)
		} else if !j.value(depth + 1) {
			return false
		}
		if j.space(); !j.next(',') {
			return j.next('}')
		}
	}
}

func (j *streamJoiner) array(depth int) bool {
	exact := len(j.exact)
	defer func() { j.exact = j.exact[:exact] }()
	j.i++
	if j.space(); j.next(']') {
		return true
	}
	for k := int64(0); ; k++ {
		j.exact = strconv.AppendInt(append(j.exact[:exact], '/'), k, 10)
		if !j.value(depth + 1) {
			return false
		}
		if j.space(); !j.next(',') {
			return j.next(']')
		}
	}
}

func (j *streamJoiner) space() {
	for j.i < len(j.s) && j.s[j.i] <= ' ' {
		j.i++
	}
}

// next reads c if that is the next byte.
func (j *streamJoiner) next(c byte) bool {
	if j.i < len(j.s) && j.s[j.i] == c {
		j.i++
		return true
	}
	return false
}

// scalar reads a number or word.
func (j *streamJoiner) scalar() string {
	start := j.i
	for j.i < len(j.s) && j.s[j.i] > ' ' && strings.IndexByte(",]}:{[\"", j.s[j.i]) < 0 {
		j.i++
	}
	return j.s[start:j.i]
}

// text reads a string.
func (j *streamJoiner) text() (string, bool) {
	if !j.next('"') {
		return "", false
	}
	escaped := false
	for start := j.i; j.i < len(j.s); j.i++ {
		switch j.s[j.i] {
		case '\\':
			escaped = true
			j.i++
		case '"':
			s := j.s[start:j.i]
			j.i++
			if escaped {
				s = unescapeJSON(s)
			}
			return s, true
		}
	}
	j.i = len(j.s)
	return "", false
}

// add appends a string to its field.
func (j *streamJoiner) add(text string) {
	// InvokeModelWithResponseStream encodes the model's event in base64.
	if string(j.path) == "/bytes" && !j.inner {
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
			in := streamJoiner{at: j.at, order: j.order, inner: true}
			_, ok := in.event(string(plain))
			if j.order = in.order; ok {
				return
			}
		}
	}
	all := j.field(j.path, nil)
	j.key = append(append(append(j.key[:0], j.path...), 0), j.exact...)
	for _, p := range []*fieldText{all, j.field(j.key, all)} {
		p.text = append(p.text, text...)
		p.n++
	}
}

func (j *streamJoiner) field(key []byte, parent *fieldText) *fieldText {
	p := j.at[string(key)]
	if p == nil {
		p = &fieldText{key: string(key), parent: parent}
		j.at[p.key] = p
		j.order = append(j.order, p)
	}
	return p
}

// texts returns the joined strings of every field with more than one string.
func (j *streamJoiner) texts() []string {
	var texts []string
	for _, p := range j.order {
		if p.n > 1 && (p.parent == nil || p.n < p.parent.n) {
			texts = append(texts, string(p.text))
		}
	}
	return texts
}
