package goldens

import (
	"encoding/json"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"
)

// documentsNode writes a library.
func documentsNode(list []Document) *yaml.Node {
	out := sequence(0)
	for _, d := range list {
		node := mapping(0)
		add(node, "id", word(d.ID), "")
		add(node, "title", quotedNode(d.Title), "")
		add(node, "date", plain(d.Date), "")
		add(node, "text", quotedNode(d.Text), "")
		if d.Fields != nil {
			fields := mapping(yaml.FlowStyle)
			for _, name := range slices.Sorted(maps.Keys(d.Fields)) {
				add(fields, name, fieldNode(d.Fields[name]), "")
			}
			add(node, "fields", fields, "")
		}
		out.Content = append(out.Content, node)
	}
	if len(list) == 0 {
		out.Style = yaml.FlowStyle
	}
	return out
}

// fieldNode is a field's value.
func fieldNode(v any) *yaml.Node {
	switch v := v.(type) {
	case string:
		return quotedNode(v)
	case json.Number:
		return plain(v.String())
	}
	return plain("null")
}
