package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// wholeItem is the placeholder that represents an item itself.
const wholeItem = "item"

// placeholder matches one at the start of a text.
var placeholder = lazyregexp.New(`^\{([A-Za-z_][A-Za-z0-9_.-]{0,63})\}`)

// Fill puts an item into a template: {field} is a field of an item that is an
// object, {item} the item itself, unless it has a field of that name; {{ and }}
// are braces. A text is inserted as written, any other value as JSON. What an item
// says is never read as a template. A field that the item does not have, and any
// other brace, is an error.
func Fill(template string, item json.RawMessage) (string, error) {
	root, _, ok := tool.ParseJSON(string(item))
	if !ok {
		return "", fmt.Errorf("the item is not JSON")
	}
	var w strings.Builder
	err := scan(template, func(text string) { w.WriteString(text) }, func(name string) error {
		value, has := root.Get(name)
		if !has && name == wholeItem {
			value, has = root, true
		}
		if !has {
			return fmt.Errorf("the item has no field {%s}", name)
		}
		if value.Kind == '"' {
			w.WriteString(value.Text())
		} else {
			w.WriteString(compact(value.Raw))
		}
		return nil
	})
	return w.String(), err
}

// placeholders are the names in a template, each once, in order.
func placeholders(template string) ([]string, error) {
	var out []string
	err := scan(template, func(string) {}, func(name string) error {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
		return nil
	})
	return out, err
}

// scan cuts a template into texts and placeholders.
func scan(template string, text func(string), field func(name string) error) error {
	for template != "" {
		at := strings.IndexAny(template, "{}")
		if at < 0 {
			at = len(template)
		}
		text(template[:at])
		template = template[at:]
		switch m := placeholder.FindStringSubmatch(template); {
		case template == "":
		case m != nil:
			if err := field(m[1]); err != nil {
				return err
			}
			template = template[len(m[0]):]
		case strings.HasPrefix(template, "{{") || strings.HasPrefix(template, "}}"):
			text(template[:1])
			template = template[2:]
		default:
			return fmt.Errorf("a brace that is no placeholder such as {name} at %q; write {{ or }} for a brace", clip.Runes(template, 20))
		}
	}
	return nil
}

// Items returns the items of a list: a JSON array, or the only array of an
// object. ok is false for any other value.
func Items(value json.RawMessage) (items []json.RawMessage, ok bool) {
	root, _, _ := tool.ParseJSON(string(value))
	list := root
	if root.Kind == '{' {
		found := 0
		for _, m := range root.Members {
			if m.Value.Kind == '[' {
				list = m.Value
				found++
			}
		}
		if found != 1 {
			return nil, false
		}
	}
	for _, e := range list.Elems {
		items = append(items, json.RawMessage(e.Raw))
	}
	return items, list.Kind == '['
}
