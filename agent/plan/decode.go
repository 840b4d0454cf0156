package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// The fields of a plan and of a step.
var (
	planFields = []string{"title", "steps"}
	stepFields = []string{
		"id", "instructions", "depends_on", "mode", "output_schema", "per_item_instructions", "per_item_schema", "tools",
	}
)

// plan reads the outermost object.
func (r *reader) plan(root tool.JSON) {
	r.unknown("the plan", root, planFields)
	r.out.Title = clip.Runes(r.text("the plan", root, "title"), maxTitle)
	steps, _ := root.Get("steps")
	switch {
	case absent(steps) || steps.Kind == '[' && len(steps.Elems) == 0:
		r.fault(codeEmpty, "the plan has no steps")
		return
	case steps.Kind != '[':
		r.fault(codeType, "the plan: steps is not a list")
		return
	}
	if most := r.known.MaxSteps; most > 0 && len(steps.Elems) > most {
		r.fault(codeTooMany, "the plan has %d steps, at most %d are allowed", len(steps.Elems), most)
		steps.Elems = steps.Elems[:most] // of which the faults are shown, too
	}
	for i, s := range steps.Elems {
		r.out.Steps = append(r.out.Steps, r.step(i, s))
	}
}

// step reads one step. It takes null, and a blank text, for a field left out.
func (r *reader) step(i int, v tool.JSON) Step {
	at := fmt.Sprintf("step %d", i+1)
	if v.Kind != '{' {
		r.fault(codeType, "%s is not an object", at)
		return Step{}
	}
	s := Step{ID: r.text(at, v, "id")}
	if s.ID != "" {
		at = fmt.Sprintf("step %q", tool.Label(s.ID))
	}
	r.unknown(at, v, stepFields)
	s.Instructions = r.text(at, v, "instructions")
	if n := len([]rune(s.Instructions)); n > maxInstructions {
		r.fault(codeTooLarge, "%s: instructions of %d characters, at most %d are allowed", at, n, maxInstructions)
	}
	s.Mode = Mode(r.text(at, v, "mode"))
	for _, dep := range r.list(at, v, "depends_on") {
		if !slices.Contains(s.DependsOn, dep) {
			s.DependsOn = append(s.DependsOn, dep)
		}
	}
	s.OutputSchema = r.schema(at, v, "output_schema")
	s.PerItem = r.text(at, v, "per_item_instructions")
	s.PerItemSchema = r.schema(at, v, "per_item_schema")
	s.Tools = r.list(at, v, "tools")
	return s
}

// unknown reports unknown fields.
func (r *reader) unknown(at string, v tool.JSON, known []string) {
	for _, m := range v.Members {
		if !slices.Contains(known, m.Name) {
			r.fault(codeField, "%s has no field %q; known: %s", at, tool.Label(m.Name), strings.Join(known, ", "))
		}
	}
}

func absent(v tool.JSON) bool { return v.Kind == 0 || v.Kind == 'n' }

// text reads a text, without white space around it.
func (r *reader) text(at string, v tool.JSON, field string) string {
	value, _ := v.Get(field)
	if !absent(value) && value.Kind != '"' {
		r.fault(codeType, "%s: %s is not a string", at, field)
	}
	return strings.TrimSpace(value.Text())
}

// list reads a list of texts: nil when it is left out.
func (r *reader) list(at string, v tool.JSON, field string) []string {
	value, _ := v.Get(field)
	if absent(value) {
		return nil
	}
	out := []string{}
	if value.Kind != '[' {
		r.fault(codeType, "%s: %s is not a list of strings", at, field)
		return out
	}
	for _, e := range value.Elems {
		if e.Kind != '"' {
			r.fault(codeType, "%s: %s is not a list of strings", at, field)
			return out
		}
		out = append(out, strings.TrimSpace(e.Text()))
	}
	return out
}

// schema reads a JSON Schema, an object or the text of one, and tightens it.
func (r *reader) schema(at string, v tool.JSON, field string) json.RawMessage {
	value, _ := v.Get(field)
	text := value.Raw
	if value.Kind == '"' {
		text = strings.TrimSpace(value.Text())
	}
	if absent(value) || text == "" {
		return nil
	}
	schema, err := Tighten(text)
	if err != nil {
		r.fault(codeSchema, "%s: %s: %v", at, field, err)
		return json.RawMessage("{}") // there is one, though not what it is
	}
	return schema
}
