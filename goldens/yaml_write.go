package goldens

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// The nodes of a file that is written. Text is quoted whoever wrote it: nothing of
// it can be read as anything else.

func mapping(style yaml.Style) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: style}
}

func sequence(style yaml.Style, items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: style, Content: items}
}

// add appends a field; comment stands above it, if there is one.
func add(to *yaml.Node, key string, value *yaml.Node, comment string) {
	k := word(key)
	k.HeadComment = comment
	to.Content = append(to.Content, k, value)
}

// word is a name. The encoder quotes one that would be read as something else.
func word(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

// plain is a number, a boolean, null or a date.
func plain(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// quotedNode is any text; one that is a date stands as people write dates.
func quotedNode(s string) *yaml.Node {
	if _, err := time.Parse(time.DateOnly, s); err == nil {
		return plain(s)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: strings.ToValidUTF8(s, "\uFFFD")}
}

func number(n int64) *yaml.Node { return plain(strconv.FormatInt(n, 10)) }

func each(list []string, node func(string) *yaml.Node) *yaml.Node {
	out := sequence(yaml.FlowStyle)
	for _, s := range list {
		out.Content = append(out.Content, node(s))
	}
	return out
}

// valueNode is a value of JSON.
func valueNode(v any) *yaml.Node {
	text, err := marshal(v)
	if err != nil {
		text = []byte("null") // what is loaded encodes; a draft that reads back otherwise is refused
	}
	return jsonNode(text)
}

// jsonNode is JSON text, its members in order.
func jsonNode(text []byte) *yaml.Node {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return nextNode(dec)
}

func nextNode(dec *json.Decoder) *yaml.Node {
	token, err := dec.Token()
	if err != nil {
		return plain("null")
	}
	switch t := token.(type) {
	case json.Delim:
		out := sequence(yaml.FlowStyle)
		if t == '{' {
			out = mapping(yaml.FlowStyle)
		}
		for dec.More() {
			if t == '{' {
				key, _ := dec.Token()
				name, _ := key.(string)
				out.Content = append(out.Content, word(name))
			}
			out.Content = append(out.Content, nextNode(dec))
		}
		_, _ = dec.Token() // the end
		return out
	case string:
		return quotedNode(t)
	case json.Number:
		return plain(t.String())
	case bool:
		return plain(strconv.FormatBool(t))
	}
	return plain("null")
}

// write encodes a document.
func write(doc *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return out.Bytes(), enc.Close()
}

// flowLine encodes a flow node as one line without its end.
func flowLine(node *yaml.Node) (string, error) {
	text, err := write(node)
	return strings.TrimSuffix(string(text), "\n"), err
}
