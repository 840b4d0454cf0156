package openai

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// split reads the requests behind a reply of Groq's compound systems: each model has
// separate prices (console.groq.com/docs/compound).
func (d *decoder) split(b *wire.Builder, raw json.RawMessage) {
	if wire.Given(raw) {
		var breakdown struct {
			Models []struct {
				Model string          `json:"model"`
				Usage json.RawMessage `json:"usage"`
			} `json:"models"`
		}
		d.parts = nil
		if wire.Unmarshal(raw, &breakdown) != nil {
			b.Reply.Usage.Doubt("usage_breakdown", "is not understood")
			return
		}
		for _, m := range breakdown.Models {
			u, err := readUsage(m.Usage)
			if err != nil || u.Prompt == nil || u.Completion == nil {
				b.Reply.Usage.Doubt("usage_breakdown", "is not understood")
				continue
			}
			part := u.classes(d.dialect)
			part.Reported = true
			d.parts = append(d.parts, providers.UsagePart{Model: m.Model, Usage: part})
		}
	}
	u := &b.Reply.Usage
	if d.parts == nil || !u.Reported {
		return
	}
	u.Parts = d.parts
	var sum int64
	for _, p := range d.parts {
		sum += p.Usage.Total()
		if len(p.Usage.NotUnderstood) > 0 || p.Usage.Other != nil {
			u.Doubt("usage_breakdown", "is not understood")
		}
	}
	if sum != u.Total() {
		u.Doubt("usage_breakdown", "is not what the usage counts")
	}
}

// searched counts the uses of the service's own tools that a message shows: those that
// Groq carried out, and the search behind OpenAI's citations.
func (d *decoder) searched(b *wire.Builder, m *answer) {
	var executed []struct {
		Index int    `json:"index"`
		Type  string `json:"type"`
	}
	if wire.Given(m.Executed) && wire.Unmarshal(m.Executed, &executed) != nil {
		executed = nil
		d.tool(b, "executed_tools", "other")
	}
	for _, e := range executed { // a stream writes each again with its result
		d.tool(b, fmt.Sprint("executed ", e.Index), cmp.Or(e.Type, "other"))
	}
	var cited []struct {
		Type string `json:"type"`
	}
	if d.dialect.Searches && wire.Given(m.Annotations) && wire.Unmarshal(m.Annotations, &cited) == nil && len(cited) > 0 && cited[0].Type == "url_citation" {
		d.tool(b, "web_search", "web_search")
	}
}

// tool counts a use of one of the service's own tools, once.
func (d *decoder) tool(b *wire.Builder, key, name string) {
	if d.tools[key] {
		return
	}
	if d.tools == nil {
		d.tools = map[string]bool{}
	}
	d.tools[key] = true
	b.ServerTool(name)
}
