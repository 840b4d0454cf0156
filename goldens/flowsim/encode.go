package flowsim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// encode writes a value as JSON, without escapes that only HTML needs.
func encode(v any) (json.RawMessage, error) {
	e := encoder{out: make([]byte, 0, 512)}
	e.value(v)
	return e.out, e.err
}

// must encodes a value that is JSON.
func must(v any) json.RawMessage {
	text, err := encode(v)
	if err != nil {
		panic(err) // of a value that was decoded from JSON
	}
	return text
}

// encoder writes what results are mostly made of, in a third of the time that encoding/json
// takes for it, and leaves the rest to that; the bytes are the same.
type encoder struct {
	out []byte
	err error // of the first value that cannot be written
}

// add writes what is JSON already.
func (e *encoder) add(text string) *encoder {
	e.out = append(e.out, text...)
	return e
}

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case nil:
		e.add("null")
	case bool:
		e.out = strconv.AppendBool(e.out, v)
	case int:
		e.whole(v)
	case float64:
		if n := int(v); math.Abs(v) < 1<<53 && float64(n) == v && (n != 0 || !math.Signbit(v)) {
			e.whole(n)
		} else {
			e.other(v)
		}
	case string:
		e.text(v)
	case []string:
		array(e, v, e.text)
	case []any:
		array(e, v, e.value)
	case map[string]any:
		members(e, v, e.value)
	case json.RawMessage: // which is written as results are
		if v == nil {
			v = json.RawMessage("null")
		}
		e.out = append(e.out, v...)
	case []graph.Node:
		array(e, v, e.node)
	case map[string][][]graph.Target:
		members(e, v, e.outputs)
	default:
		e.other(v)
	}
}

// other writes a value as encoding/json does.
func (e *encoder) other(v any) {
	text := bytes.NewBuffer(e.out)
	enc := json.NewEncoder(text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		e.err = cmp.Or(e.err, err)
		return
	}
	e.out = text.Bytes()[:text.Len()-1]
}

func (e *encoder) whole(n int) { e.out = strconv.AppendInt(e.out, int64(n), 10) }

func (e *encoder) text(s string) {
	if isPlain(s) {
		e.out = append(append(append(e.out, '"'), s...), '"')
	} else {
		e.other(s)
	}
}

// stamp writes a time as results do.
func (e *encoder) stamp(t time.Time) { e.out = t.UTC().AppendFormat(e.out, `"`+stampLayout+`"`) }

// orNull writes null for an empty text.
func (e *encoder) orNull(s string) {
	if s == "" {
		e.add("null")
	} else {
		e.text(s)
	}
}

func array[T any](e *encoder, items []T, item func(T)) {
	if items == nil {
		e.add("null")
		return
	}
	e.add("[")
	for i, v := range items {
		if i > 0 {
			e.add(",")
		}
		item(v)
	}
	e.add("]")
}

func members[T any](e *encoder, of map[string]T, value func(T)) {
	if of == nil {
		e.add("null")
		return
	}
	var few [16]string
	keys := slices.AppendSeq(few[:0], maps.Keys(of))
	slices.Sort(keys)
	e.add("{")
	for i, key := range keys {
		if i > 0 {
			e.add(",")
		}
		e.text(key)
		e.add(":")
		value(of[key])
	}
	e.add("}")
}

// isPlain reports whether a text is written between quotes as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if b := s[i]; b < ' ' || b > '~' || b == '"' || b == '\\' {
			return false
		}
	}
	return true
}

func (e *encoder) node(n graph.Node) {
	e.add(`{"name":`).text(n.Name)
	e.add(`,"type":`).text(n.Type)
	e.add(`,"typeVersion":`).whole(n.Version)
	members(e.add(`,"parameters":`), n.Parameters, e.value)
	if len(n.Credentials) > 0 {
		members(e.add(`,"credentials":`), n.Credentials, e.text)
	}
	if n.Disabled {
		e.add(`,"disabled":true`)
	}
	if n.OnError != "" {
		e.add(`,"onError":`).text(n.OnError)
	}
	e.add("}")
}

// outputs writes where the output ports of a node lead to.
func (e *encoder) outputs(of [][]graph.Target) {
	array(e, of, func(targets []graph.Target) {
		array(e, targets, func(t graph.Target) {
			e.add(`{"node":`).text(t.Node)
			e.add(`,"input":`).whole(t.Input)
			e.add("}")
		})
	})
}
