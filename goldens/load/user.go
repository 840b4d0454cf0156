package load

import (
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/persona"
)

var (
	userFields = []string{"persona", "goal", "facts", "turns", "model"}
	factFields = []string{"value", "asked"}
	// userModelFields are those of a helper that has no name of its own.
	userModelFields = slices.DeleteFunc(slices.Clone(helperFields), func(name string) bool { return name == "name" })
)

const (
	maxUserTurns = 100
	maxFacts     = 100
	maxFact      = 1_000 // characters
)

// readUser reads the simulated user of a task.
func readUser(p yamlfile.Place) *persona.User {
	o, u := p.Object(userFields), &persona.User{}
	if p, ok := o.Need("persona"); ok {
		u.Persona = p.Filled()
	}
	if p, ok := o.Need("goal"); ok {
		u.Goal = p.Filled()
	}
	yamlfile.Read(o, "facts", &u.Facts, readFacts)
	yamlfile.Read(o, "turns", &u.Turns, func(p yamlfile.Place) int { return int(p.Integer(1, maxUserTurns)) })
	if p, ok := o.Need("model"); ok {
		o := p.Object(userModelFields)
		o.Need("provider")
		o.Need("model")
		u.Model = readHelper(o, string(helper.User))
	}
	return u
}

// readFacts reads what a user knows: texts by name, or {value: text, asked: [words]}.
func readFacts(p yamlfile.Place) (out []persona.Fact) {
	for _, e := range p.Entries() {
		e.KeyAt.CheckName(yamlfile.FieldName, e.Key)
		f, value := persona.Fact{Name: e.Key}, e.Value
		if value.Kind() == "a mapping" {
			o := value.Object(factFields)
			yamlfile.Read(o, "asked", &f.Asked, yamlfile.Place.Words)
			var ok bool
			if value, ok = o.Need("value"); !ok {
				continue
			}
		}
		if f.Value = value.Short(maxFact); strings.ContainsAny(f.Value+strings.Join(f.Asked, ""), "\n()") {
			value.Failf("a fact and its words are one line without parentheses")
		}
		out = append(out, f)
	}
	if len(out) > maxFacts {
		p.Failf("a user may have at most %d facts", maxFacts)
	}
	return out
}
