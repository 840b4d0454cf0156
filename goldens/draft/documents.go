package draft

import (
	"encoding/json"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
)

// documentsNode writes a library.
func documentsNode(list []world.Document) *yaml.Node {
	out := yamlfile.Sequence(0)
	for _, d := range list {
		node := yamlfile.Mapping(0)
		yamlfile.Add(node, "id", yamlfile.Word(d.ID), "")
		yamlfile.Add(node, "title", yamlfile.QuotedNode(d.Title), "")
		yamlfile.Add(node, "date", yamlfile.Plain(d.Date), "")
		yamlfile.Add(node, "text", yamlfile.QuotedNode(d.Text), "")
		if d.Fields != nil {
			fields := yamlfile.Mapping(yaml.FlowStyle)
			for _, name := range slices.Sorted(maps.Keys(d.Fields)) {
				yamlfile.Add(fields, name, fieldNode(d.Fields[name]), "")
			}
			yamlfile.Add(node, "fields", fields, "")
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
		return yamlfile.QuotedNode(v)
	case json.Number:
		return yamlfile.Plain(v.String())
	}
	return yamlfile.Plain("null")
}
