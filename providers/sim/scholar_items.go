package sim

import (
	"encoding/json"
	"strings"
)

// items are lights with fields, for an answer in the form of a schema.
func (w *work) items(ids, fields []string) []any {
	out := []any{}
	for _, id := range ids {
		item := obj{"id": id, "name": w.nameOf(id), "title": w.title(id)}
		for _, field := range fields {
			if f, ok := w.s.known(id, field); ok {
				item[field], item["value"], item["field"] = f.plain(), f.plain(), field
				item["unit"], item["note"] = strings.TrimSpace(unitOf(field)), ""
				if !f.recorded {
					item["note"] = notRecorded
				}
			}
		}
		out = append(out, item)
	}
	return out
}

// saidOf is what an answer on lights says.
func (w *work) saidOf(ids, fields []string) obj {
	said := obj{}
	items := w.items(ids, fields)
	if len(items) > 0 {
		for k, v := range items[0].(obj) {
			said[k] = v
		}
	}
	said["items"], said["lights"], said["lighthouses"] = items, items, items
	return said
}

// plain is a figure as JSON has it.
func (f stated) plain() any {
	switch {
	case !f.recorded:
		return nil
	case f.number:
		return json.Number(f.text)
	}
	return f.text
}
