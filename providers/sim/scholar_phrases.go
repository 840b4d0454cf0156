package sim

import (
	"fmt"
	"strings"
)

// nounOf is what a field is called.
func nounOf(field string) string {
	switch field {
	case heightField:
		return "height"
	case builtField:
		return "year of construction"
	case rangeField:
		return "range"
	case automatedField:
		return "year of automation"
	case keeperField:
		return "last keeper"
	}
	return field
}

// unitOf is what follows a number of a field.
func unitOf(field string) string {
	switch field {
	case heightField:
		return " metres"
	case rangeField:
		return " nautical miles"
	}
	return ""
}

// gapUnit is what follows a difference of a field.
func gapUnit(field string) string {
	if field == builtField || field == automatedField {
		return " years"
	}
	return unitOf(field)
}

// sentence says one field of one light.
func (w *work) sentence(id, field string, f stated) string {
	name := w.nameOf(id)
	if !f.recorded {
		return fmt.Sprintf("The %s of %s is not recorded.", nounOf(field), name)
	}
	switch field {
	case heightField:
		return fmt.Sprintf("%s is %s metres tall.", name, f.text)
	case builtField:
		return fmt.Sprintf("%s was built in %s.", name, f.text)
	case automatedField:
		return fmt.Sprintf("%s was automated in %s.", name, f.text)
	case designerField:
		return fmt.Sprintf("%s was designed by %s.", name, f.text)
	case rangeField:
		return fmt.Sprintf("%s has a range of %s nautical miles.", name, f.text)
	case regionField:
		return fmt.Sprintf("%s is on the %s.", name, f.text)
	case textField:
		return fmt.Sprintf("%s: %s", name, f.text)
	}
	return fmt.Sprintf("The %s of %s: %s.", nounOf(field), name, f.text)
}

// described words the groups and tests of a study.
func (st researchQuery) described() string {
	var parts []string
	for _, p := range st.pools {
		switch {
		case p.inner != nil:
			parts = append(parts, "of "+p.label)
		case strings.HasSuffix(p.label, " coast"):
			parts = append(parts, "on the "+p.label)
		default:
			parts = append(parts, "of "+p.label)
		}
	}
	out := strings.Join(parts, " and ")
	if out != "" {
		out = " " + out
	}
	for _, c := range st.tests {
		switch {
		case c.other != "":
			out += fmt.Sprintf(" with %s %s that of %s", nounOf(c.field), c.op, c.other)
		case c.op == "none":
			out += " without a recorded " + nounOf(c.field)
		case c.op == "has":
			out += " with a recorded " + nounOf(c.field)
		case c.op == "between":
			out += fmt.Sprintf(" with %s from %s to %s", nounOf(c.field), spell(c.n), spell(c.m))
		default:
			out += fmt.Sprintf(" with %s %s %s", nounOf(c.field), c.op, spell(c.n))
		}
	}
	return out
}
