package yamlfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// The nodes of a file that is written. Text is quoted whoever wrote it: nothing of
// it can be read as anything else.

// Mapping is an empty mapping.
func Mapping(style yaml.Style) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: style}
}

// Sequence is a list of items.
func Sequence(style yaml.Style, items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: style, Content: items}
}

// Add appends a field; comment is above it, if there is one.
func Add(to *yaml.Node, key string, value *yaml.Node, comment string) {
	k := Word(key)
	k.HeadComment = comment
	to.Content = append(to.Content, k, value)
}

// Word is a name. The encoder quotes one that would be read as something else.
func Word(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

// Plain is a number, a boolean, null or a date.
func Plain(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// QuotedNode is any text; a date is written in the usual form of dates.
func QuotedNode(s string) *yaml.Node {
	if _, err := time.Parse(time.DateOnly, s); err == nil {
		return Plain(s)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: strings.ToValidUTF8(s, "\uFFFD")}
}

// Name is a text that Node writes as Word does, not in quotes.
type Name string

// Fields is a mapping of keys and values, in pairs: see Node. A pair whose value is nil
// is left out.
func Fields(style yaml.Style, pairs ...any) *yaml.Node {
	out := Mapping(style)
	for i := 0; i+1 < len(pairs); i += 2 {
		v := reflect.ValueOf(pairs[i+1])
		switch v.Kind() {
		case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Invalid:
			if !v.IsValid() || v.IsNil() {
				continue
			}
		}
		Add(out, pairs[i].(string), Node(pairs[i+1]), "")
	}
	return out
}

// Given is v, or nil where v is zero.
func Given[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// Node writes a value: a node, names, text, a duration, JSON, or what encodes as JSON.
func Node(v any) *yaml.Node {
	switch v := v.(type) {
	case *yaml.Node:
		return v
	case Name:
		return Word(string(v))
	case []Name:
		out := Sequence(yaml.FlowStyle)
		for _, name := range v {
			out.Content = append(out.Content, Word(string(name)))
		}
		return out
	case string:
		return QuotedNode(v)
	case time.Duration:
		return Plain(v.String())
	case json.RawMessage:
		return JSONNode(v)
	}
	return ValueNode(v)
}

// ValueNode is a value of JSON.
func ValueNode(v any) *yaml.Node {
	text, err := json.Marshal(v)
	if err != nil {
		text = []byte("null") // what is loaded encodes; a draft that reads back otherwise is refused
	}
	return JSONNode(text)
}

// JSONNode is JSON text, its members in order.
func JSONNode(text []byte) *yaml.Node {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return nextNode(dec)
}

func nextNode(dec *json.Decoder) *yaml.Node {
	token, err := dec.Token()
	if err != nil {
		return Plain("null")
	}
	switch t := token.(type) {
	case json.Delim:
		out := Sequence(yaml.FlowStyle)
		if t == '{' {
			out = Mapping(yaml.FlowStyle)
		}
		for dec.More() {
			if t == '{' {
				key, _ := dec.Token()
				name, _ := key.(string)
				out.Content = append(out.Content, Word(name))
			}
			out.Content = append(out.Content, nextNode(dec))
		}
		_, _ = dec.Token() // the end
		return out
	case string:
		return QuotedNode(t)
	case json.Number:
		return Plain(t.String())
	case bool:
		return Plain(strconv.FormatBool(t))
	}
	return Plain("null")
}

// Write encodes a document.
func Write(doc *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return out.Bytes(), enc.Close()
}

// FlowLine encodes a flow node as one line without its end.
func FlowLine(node *yaml.Node) (string, error) {
	text, err := Write(node)
	return strings.TrimSuffix(string(text), "\n"), err
}
