package flowsim

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// encode writes a value as JSON, without escapes that only HTML needs.
func encode(v any) (json.RawMessage, error) { return appendValue(make([]byte, 0, 256), v) }

// appendValue writes what results are mostly made of, in a third of the time that
// encoding/json takes for it, and leaves the rest to that; the bytes are the same.
func appendValue(out []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...), nil
	case bool:
		return strconv.AppendBool(out, v), nil
	case int:
		return strconv.AppendInt(out, int64(v), 10), nil
	case float64:
		if n := int64(v); math.Abs(v) < 1<<53 && float64(n) == v && (n != 0 || !math.Signbit(v)) {
			return strconv.AppendInt(out, n, 10), nil
		}
	case string:
		if isPlain(v) {
			return append(append(append(out, '"'), v...), '"'), nil
		}
	case []any:
		if v != nil {
			return appendList(out, v)
		}
	case json.RawMessage: // which is written as results are
		if v != nil {
			return append(out, v...), nil
		}
	case []graph.Node:
		if len(v) > 0 {
			return appendNodes(out, v)
		}
	case map[string][][]graph.Target:
		if len(v) > 0 {
			return appendConnections(out, v)
		}
	case map[string]any:
		if v != nil {
			return appendObject(out, v)
		}
	}
	text := bytes.NewBuffer(out)
	enc := json.NewEncoder(text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return text.Bytes()[:text.Len()-1], nil
}

func appendList(out []byte, list []any) (_ []byte, err error) {
	out = append(out, '[')
	for i, item := range list {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = appendValue(out, item); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendObject(out []byte, object map[string]any) (_ []byte, err error) {
	var few [16]string
	keys := slices.AppendSeq(few[:0], maps.Keys(object))
	slices.Sort(keys)
	out = append(out, '{')
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = appendValue(out, key); err != nil {
			return nil, err
		}
		if out, err = appendValue(append(out, ':'), object[key]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
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

// must encodes a value that is JSON.
func must(v any) json.RawMessage { return mustAppend(make([]byte, 0, 256), v) }

func mustAppend(out []byte, v any) []byte {
	out, err := appendValue(out, v)
	if err != nil {
		panic(err) // of a value that was decoded from JSON
	}
	return out
}

// appendNodes writes the nodes of a graph.
func appendNodes(out []byte, nodes []graph.Node) ([]byte, error) {
	for i, n := range nodes {
		out = append(append(out, "[,"[min(i, 1)]), `{"name":`...)
		out = append(mustAppend(out, n.Name), `,"type":`...)
		out = append(mustAppend(out, n.Type), `,"typeVersion":`...)
		out = append(mustAppend(out, n.Version), `,"parameters":`...)
		out = mustAppend(out, n.Parameters)
		if len(n.Credentials) > 0 {
			out = mustAppend(append(out, `,"credentials":`...), texts(n.Credentials))
		}
		if n.Disabled {
			out = append(out, `,"disabled":true`...)
		}
		if n.OnError != "" {
			out = mustAppend(append(out, `,"onError":`...), n.OnError)
		}
		out = append(out, '}')
	}
	return append(out, ']'), nil
}

// appendConnections writes the connections of a graph.
func appendConnections(out []byte, from map[string][][]graph.Target) ([]byte, error) {
	all := make(map[string]any, len(from))
	for name, outputs := range from {
		lists := make([]any, len(outputs))
		for i, targets := range outputs {
			if targets == nil {
				continue
			}
			text := []byte{'['}
			for k, t := range targets {
				if k > 0 {
					text = append(text, ',')
				}
				text = append(mustAppend(append(text, `{"node":`...), t.Node), `,"input":`...)
				text = append(strconv.AppendInt(text, int64(t.Input), 10), '}')
			}
			lists[i] = json.RawMessage(append(text, ']'))
		}
		if all[name] = lists; outputs == nil {
			all[name] = nil
		}
	}
	return appendObject(out, all)
}

func texts(of map[string]string) map[string]any {
	out := make(map[string]any, len(of))
	for key, text := range of {
		out[key] = text
	}
	return out
}
