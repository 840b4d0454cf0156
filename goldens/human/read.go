package human

import (
	"slices"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/goldens/internal/match"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

var (
	ruleFields    = []string{"when", "say", "text", "choices", "times", "after"}
	whenFields    = []string{"tool", "kind", "args", "nth"}
	messageFields = []string{"text", "at", "after", "on"}
)

// Bounds of what people say.
const (
	maxRules    = 100
	maxMessages = 50
	maxTimes    = 10_000
	maxText     = 64 << 10 // bytes
)

// Rules are rules of a task or a world, and where they are. The zero value has none.
type Rules struct {
	List []Rule
	at   yamlfile.Place
}

// Check reports each rule that can never match among these tools, of which asks returns those whose
// calls people are asked about.
func (r Rules) Check(offered []string, asks func(tool string) bool) {
	for i, rule := range r.List {
		name := rule.When.Tool
		switch kind := person.KindOf(name); {
		case name == "" || kind == person.PlanReview || kind == person.Question: // a strategy's own
		case !slices.Contains(offered, name):
			r.at.Item(i).Failf("this rule can never match: there is no tool %q%s; there are: %s", name, yamlfile.Suggest(name, offered), yamlfile.Listed(offered))
		case !asks(name):
			r.at.Item(i).Failf("this rule can never match: calls of %s are not asked about; write approve: ask at the tool, or remove the rule", name)
		}
	}
}

// ReadRules reads a list of rules, and reports each that can never match.
func ReadRules(p yamlfile.Place) Rules {
	items := p.Items()
	if len(items) > maxRules {
		p.Failf("must have at most %d rules, but has %d", maxRules, len(items))
		return Rules{}
	}
	var out []Rule
	for i, item := range items {
		before := len(p.Src.Found.List)
		r := readRule(item)
		if out = append(out, r); len(p.Src.Found.List) > before {
			out[i] = Rule{} // covers nothing
			continue
		}
		if len(r.kinds()) == 0 {
			item.Failf("this rule can never match: %s", r.impossible())
		} else if k := slices.IndexFunc(out[:i], func(earlier Rule) bool { return earlier.covers(r) }); k >= 0 {
			item.Failf("this rule can never match: the rule on line %d answers all that it would; put this one before it", items[k].At())
		}
	}
	return Rules{out, p}
}

// impossible says why no kind of request meets the rule.
func (r Rule) impossible() string {
	kind := person.KindOf(r.When.Tool)
	switch {
	case r.When.Tool != "" && r.When.Kind != "" && r.When.Kind != kind:
		return "requests of " + r.When.Tool + " are of kind " + kind + "; write that kind, or leave kind out"
	case r.When.Tool != "":
		return "a request of " + r.When.Tool + " takes " + yamlfile.Listed(person.Takes(kind))
	}
	return "a request of kind " + r.When.Kind + " takes " + yamlfile.Listed(person.Takes(r.When.Kind))
}

func readRule(p yamlfile.Place) Rule {
	o := p.Object(ruleFields)
	var r Rule
	if w, ok := o.Get("when"); ok {
		when := w.Object(whenFields)
		yamlfile.Read(when, "tool", &r.When.Tool, yamlfile.Place.Filled)
		yamlfile.Read(when, "kind", &r.When.Kind, func(p yamlfile.Place) string { return p.Choice(person.Kinds...) })
		yamlfile.Read(when, "nth", &r.When.Nth, func(p yamlfile.Place) int { return int(p.Integer(1, maxTimes)) })
		yamlfile.Read(when, "args", &r.When.Args, readArgs)
	}
	if say, ok := o.Need("say"); ok {
		r.Say = say.Choice(person.Says...)
	}
	yamlfile.Read(o, "text", &r.Text, readText)
	yamlfile.Read(o, "choices", &r.Choices, yamlfile.Place.Words)
	yamlfile.Read(o, "times", &r.Times, func(p yamlfile.Place) int { return int(p.Integer(1, maxTimes)) })
	yamlfile.Read(o, "after", &r.After, yamlfile.Place.Duration)
	needs := slices.Contains([]string{person.Feedback, person.Reply, person.Select}, r.Say)
	if needs && r.Text == "" && len(r.Choices) == 0 {
		o.FieldAt("text").Failf("say: %s needs a text", r.Say)
	}
	return r
}

// readArgs reads values or matchers of fields of a payload.
func readArgs(p yamlfile.Place) map[string]any {
	before := len(p.Src.Found.List)
	args, _ := yamlfile.DecodeJSON(p.JSON()).(map[string]any)
	for _, e := range p.Entries() {
		if _, err := match.Value(args[e.Key], e.Key); err != nil && len(p.Src.Found.List) == before {
			e.Value.Faulty(err, e.Key+".")
		}
	}
	return args
}

func readText(p yamlfile.Place) string {
	text := p.Filled()
	if len(text) > maxText {
		p.Failf("must be at most %d KiB", maxText>>10)
	}
	return text
}

// ReadMessages reads the further messages of the user.
func ReadMessages(p yamlfile.Place) []Message {
	items := p.Items()
	if len(items) == 0 && p.Kind() == "a list" || len(items) > maxMessages {
		p.Failf("must have 1 to %d messages, but has %d", maxMessages, len(items))
	}
	var out []Message
	for _, item := range items {
		out = append(out, readMessage(item))
	}
	return out
}

func readMessage(p yamlfile.Place) Message {
	m := Message{At: Idle}
	if p.Kind() != "a mapping" {
		m.Text = readText(p)
		return m
	}
	o := p.Object(messageFields)
	if text, ok := o.Need("text"); ok {
		m.Text = readText(text)
	}
	given := 0
	for _, field := range messageFields[1:] {
		at, ok := o.Get(field)
		if !ok {
			continue
		}
		if given++; given > 1 {
			at.Failf("a message has one of at, after and on")
		}
		switch field {
		case "at":
			at.Choice(Idle)
		case "after":
			m.At, m.After = After, at.Duration()
		case "on":
			m.At = at.Choice(Background)
		}
	}
	return m
}
