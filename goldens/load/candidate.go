package load

import (
	"reflect"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/settings"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// candidateFields are the fields of a candidate, its name and the axes first.
var candidateFields = settings.Names(reflect.TypeFor[goldens.Candidate]())

// candidates reads a suite's default candidates.
func candidates(list yamlfile.Place) []goldens.Candidate {
	var out []goldens.Candidate
	first := map[string]int{}
	for _, item := range list.Items() {
		before := len(item.Src.Found.List)
		o := item.Object(candidateFields)
		var c goldens.Candidate
		settings.Read[goldens.Candidate](o, candidateFields)(&c)
		if len(item.Src.Found.List) == before {
			c.Faults(faultsAt(o))
		}
		if line, dup := first[c.Name]; dup && c.Name != "" {
			o.FieldAt("name").Failf("candidate %s is defined already, on line %d", c.Name, line)
		} else {
			first[c.Name] = item.At()
		}
		out = append(out, c)
	}
	return out
}

// faultsAt records a fault at its field, or at the object where the field is absent.
func faultsAt(o yamlfile.Object) func(field, detail string) {
	return func(field, detail string) { o.FieldAt(field).Failf("%s", detail) }
}
