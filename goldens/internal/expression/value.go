package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decode returns the value of JSON text. A number is an int where it is whole and fits 64
// bits, a json.Number where it is whole and does not, and a float64 otherwise.
func Decode(text []byte) (any, error) {
	if !json.Valid(text) {
		var v any
		return nil, fmt.Errorf("not valid JSON: %w", json.Unmarshal(text, &v))
	}
	d := decoder{rest: string(text)}
	return d.value(), nil
}

// decoder reads valid JSON, in a fifth of the time that encoding/json takes for numbers
// as these: the arguments of a call are most of what it costs.
type decoder struct{ rest string }

// next drops space and what separates values, and returns the byte that follows.
func (d *decoder) next() byte {
	for i := 0; ; i++ {
		switch b := d.rest[i]; b {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			d.rest = d.rest[i:]
			return b
		}
	}
}

func (d *decoder) value() any {
	switch d.next() {
	case '{':
		object := map[string]any{}
		for d.rest = d.rest[1:]; d.next() != '}'; {
			key := d.text()
			object[key] = d.value()
		}
		d.rest = d.rest[1:]
		return object
	case '[':
		list := []any{}
		for d.rest = d.rest[1:]; d.next() != ']'; {
			list = append(list, d.value())
		}
		d.rest = d.rest[1:]
		return list
	case '"':
		return d.text()
	}
	end := strings.IndexAny(d.rest, " \t\r\n,]}")
	if end < 0 {
		end = len(d.rest)
	}
	word := d.rest[:end]
	d.rest = d.rest[end:]
	switch word {
	case "null":
		return nil
	case "true", "false":
		return word == "true"
	}
	return number(word)
}

// text reads a string.
func (d *decoder) text() (s string) {
	end := 1
	for plain := true; ; end++ {
		switch b := d.rest[end]; {
		case b == '\\':
			plain = false
			end++
		case b >= utf8.RuneSelf:
			plain = false
		case b == '"' && plain:
			s = d.rest[1:end]
			d.rest = d.rest[end+1:]
			return s
		case b == '"':
			var escaped string                                   // which alone is moved to the heap
			_ = json.Unmarshal([]byte(d.rest[:end+1]), &escaped) // of valid JSON
			d.rest = d.rest[end+1:]
			return escaped
		}
	}
}

func number(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.ContainsAny(text, ".eE") {
		return json.Number(text)
	}
	return whole(f)
}

// whole returns a number as an int where that is exact.
func whole(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int(f)
	}
	return f
}

// Plain returns v as a value to keep: a copy made of nil, bool, int, float64, string,
// json.Number, []any and map[string]any alone, in which every whole number of less than
// 2^53 is an int. The error says what JSON does not have, or that v has more than about
// limit bytes as JSON or is nested deeper than 200 levels.
func Plain(v any, limit int) (any, error) {
	p := plainer{limit, limit}
	return p.value(v, 0)
}

var errNotFinite = errors.New("the number is not finite, as after a division by zero")

// tooLarge says of a value that it has more than limit bytes as JSON.
func tooLarge(limit int) error {
	return fmt.Errorf("the value is too large: as JSON, it may have %d KiB, and %d levels", limit>>10, maxNested)
}

type plainer struct{ limit, left int }

func (p *plainer) value(of any, level int) (any, error) {
	if p.left -= 2; p.left < 0 || level > maxNested {
		return nil, tooLarge(p.limit)
	}
	switch v := of.(type) {
	case nil, bool, int:
		return of, nil
	case []any, []int, []float64, []string:
		list, _ := asList(v)
		out := make([]any, len(list))
		for i, item := range list {
			plain, err := p.value(item, level+1)
			if err != nil {
				return nil, err
			}
			out[i] = plain
		}
		return out, nil
	case json.Number:
		p.left -= len(v)
		return of, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errNotFinite
		}
		return whole(v), nil
	case string:
		if p.left -= len(v); p.left < 0 {
			return nil, tooLarge(p.limit)
		}
		if !utf8.ValidString(v) {
			return strings.ToValidUTF8(v, "\uFFFD"), nil
		}
		return of, nil
	case map[string]any, map[any][]any:
		object, err := asObject(v)
		if err != nil {
			return nil, err
		}
		out := make(map[string]any, len(object))
		for key, item := range object {
			p.left -= len(key)
			if out[key], err = p.value(item, level+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("JSON has no value of type %T", of)
}

// JSON returns a value as canonical JSON (RFC 8785 except for the order of keys with
// characters beyond U+FFFF, which is that of bytes). The error is that of Plain.
func JSON(v any, limit int) (json.RawMessage, error) {
	w := writer{out: make([]byte, 0, 64), limit: limit}
	err := w.value(v, 0)
	if err == nil {
		err = w.check()
	}
	return w.out, err
}

// check reports whether what was written is too large.
func (w *writer) check() error {
	if len(w.out) > w.limit {
		return tooLarge(w.limit)
	}
	return nil
}

// AppendJSON appends canonical JSON of a value as Plain and Decode return it.
func AppendJSON(out []byte, v any) []byte {
	w := writer{out: out, limit: math.MaxInt}
	_ = w.value(v, math.MinInt) // such a value is JSON
	return w.out
}

type writer struct {
	out   []byte
	limit int
}

func (w *writer) value(v any, level int) error {
	if len(w.out) > w.limit || level > maxNested {
		return tooLarge(w.limit)
	}
	switch v := v.(type) {
	case nil:
		w.out = append(w.out, "null"...)
	case bool:
		w.out = strconv.AppendBool(w.out, v)
	case int:
		w.out = strconv.AppendInt(w.out, int64(v), 10)
	case json.Number:
		w.out = append(w.out, v...)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errNotFinite
		}
		w.out = appendFloat(w.out, v)
	case string:
		w.out = appendString(w.out, v)
	case []any:
		w.out = append(w.out, '[')
		for i, item := range v {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if err := w.value(item, level+1); err != nil {
				return err
			}
		}
		w.out = append(w.out, ']')
	case map[string]any:
		return w.object(v, level)
	default:
		plain, err := Plain(v, w.limit)
		if err != nil {
			return err
		}
		return w.value(plain, level)
	}
	return nil
}

func (w *writer) object(v map[string]any, level int) error {
	var few [16]string
	keys := slices.AppendSeq(few[:0], maps.Keys(v))
	slices.Sort(keys)
	w.out = append(w.out, '{')
	for i, key := range keys {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(appendString(w.out, key), ':')
		if err := w.value(v[key], level+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

// appendFloat writes a number as JavaScript does.
func appendFloat(out []byte, f float64) []byte {
	if f == 0 {
		return append(out, '0')
	}
	if size := math.Abs(f); size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	return append(out, strings.Replace(text, "e-0", "e-", 1)...)
}

func appendString(out []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	out = append(out, '"')
	from, checked := 0, false
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b >= utf8.RuneSelf && !checked { // what is before is ASCII
			s, checked = strings.ToValidUTF8(s, "\uFFFD"), true
		}
		if b >= ' ' && b != '"' && b != '\\' {
			continue
		}
		out = append(out, s[from:i]...)
		from = i + 1
		switch {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case strings.IndexByte("\b\t\n\f\r", b) >= 0:
			out = append(out, '\\', "btn.fr"[b-'\b'])
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xF])
		}
	}
	return append(append(out, s[from:]...), '"')
}

// place returns the line and column, from 1, of the byte at offset of text.
func place(text string, offset int) (line, column int) {
	before := text[:offset]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}
