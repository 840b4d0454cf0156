package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What steps of a plan hand on.
const (
	todaySchema = `{"type":"object","properties":{"start_date":{"type":"string"}}}`
	countSchema = `{"type":"object","properties":{"label":{"type":"string"},"start":{"type":"string"},"end":{"type":"string"},` +
		`"value":{"type":["integer","null"]},"note":{"type":"string"}}}`
)

// longRequest is from how many characters on a request is told in fewer words.
const longRequest = 240

// steps breaks the request into counts, each a step of its own, and the answer. What
// one count answers, and what none does, is one step.
func (m *behaviour) steps() []planStep {
	whole := planStep{ID: "answer", Instructions: m.prompt.request, DependsOn: []string{}}
	for _, name := range []string{todayRange, getCounts, getJobStatus} {
		if m.prompt.tools[name] {
			whole.Tools = append(whole.Tools, name)
		}
	}
	parts := m.parts()
	if len(parts) == 1 && (m.follows || len(m.prompt.request) > longRequest) {
		whole.Instructions = countInstruction(parts[0].label, parts[0].when)
	}
	if len(parts) < 2 {
		return []planStep{whole}
	}
	var out []planStep
	first := []string{}
	if m.needsToday() {
		out = append(out, planStep{ID: "today", Instructions: "Find out today's date with today_range.", DependsOn: first, OutputSchema: todaySchema, Tools: []string{todayRange}})
		first = []string{"today"}
	}
	seen := map[string]int{}
	for _, part := range parts {
		id := part.label
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s_%d", id, seen[id])
		}
		s := planStep{ID: id, Instructions: countInstruction(part.label, part.when), DependsOn: []string{}, OutputSchema: countSchema, Tools: []string{getCounts}}
		if part.relative {
			s.DependsOn = first
		}
		out = append(out, s)
	}
	for _, s := range out {
		whole.DependsOn = append(whole.DependsOn, s.ID)
	}
	return append(out, whole)
}

func countInstruction(label, when string) string {
	return fmt.Sprintf("Count the %s messages %s with get_counts.", label, when)
}

// part is one count, in words.
type part struct {
	label, when string
	relative    bool
}

// parts are the counts of the request, in its order; none if it asks for none, if
// something is missing or wrong, or if one cannot be said apart from the others.
func (m *behaviour) parts() []part {
	_, bad := m.badInput()
	_, missing := m.missingInput()
	if m.request.unsupported != "" || m.request.chat || bad || missing {
		return nil
	}
	var out []part
	for _, w := range m.wanted() {
		s := m.request.dates.spans[w.span]
		p := part{label: labels[w.label], when: s.fixed.String(), relative: s.relative != nil}
		if p.relative {
			var ok bool
			if p.when, ok = m.inWords(s); !ok {
				return nil
			}
		}
		out = append(out, p)
	}
	return out
}

// frames are days on which two dates that mean the same fall together, and others
// hardly do.
var frames = []string{"2026-05-13", "2026-01-01", "2024-02-29", "2025-10-26"}

// longestDate bounds, in words, how a date is said, longestSearch how far into the
// request it is looked for.
const (
	longestDate   = 8
	longestSearch = 60
)

// inWords finds the fewest words of the request that say a relative date.
func (m *behaviour) inWords(want span) (string, bool) {
	words := strings.Fields(m.prompt.request)
	words = words[:min(longestSearch, len(words))]
	for n := 1; n <= min(longestDate, len(words)); n++ {
		for i := 0; i+n <= len(words); i++ {
			said := strings.TrimRight(strings.Join(words[i:i+n], " "), "?!.,;:")
			r := understand(countInstruction(labels[0], said), m.profile.languages)
			if len(r.dates.spans) == 1 && !r.dates.open && len(r.labels.labels) == 1 && m.same(r.dates.spans[0], want) {
				return said, true
			}
		}
	}
	return "", false
}

// same reports whether two relative dates mean the same.
func (m *behaviour) same(a, b span) bool {
	return a.relative != nil && !slices.ContainsFunc(frames, func(today string) bool {
		f := frame{weekBegin: m.prompt.weekBegin()}
		f.today, _ = parseDay(today)
		return a.resolve(f) != b.resolve(f)
	})
}

// asksToday matches the instructions of a step that is about today's date alone.
var asksToday = regexp.MustCompile(`(?i)\btoday's date\b`)

// give notes a value that came with the request: of another step, or an input.
func (n *notes) give(value string) {
	var list []json.RawMessage
	var text string
	if json.Unmarshal([]byte(value), &list) == nil {
		for _, one := range list {
			n.give(string(one))
		}
		return
	}
	if json.Unmarshal([]byte(value), &text) == nil {
		if today, ok := parseDay(text); ok {
			n.today = &today
		} else {
			n.summary(text)
		}
		return
	}
	values, whole := members(value)
	if values["label"] == nil {
		if today, ok := readToday(values); ok {
			n.today = &today
		}
		return
	}
	if note, _ := values["note"].(string); note != "" && values["value"] == nil {
		return // it could not be found out
	}
	if f, ok := readCount(toolUse{}, values, whole); ok && slices.Contains(labels, f.label) {
		n.facts = append(n.facts, f)
	}
}

// tell is what facts say, by the names that a schema may ask for.
func tell(facts []fact) map[string]any {
	var sum int64
	var items []any
	said := map[string]any{"note": "", "missing": []string{}}
	complete := true
	for _, f := range facts {
		item := obj{"label": f.label, "start": f.from.String(), "end": f.to.String(), "value": nil}
		if f.state == counted {
			item["value"] = f.value
			sum += f.value
		}
		complete = complete && f.state == counted
		if oneStretch(facts) {
			said[f.label] = item["value"]
		}
		items = append(items, item)
	}
	said["items"] = items
	if complete {
		said["value"] = sum
	}
	if len(facts) == 1 {
		f := facts[0]
		said["label"], said["start"], said["end"] = f.label, f.from.String(), f.to.String()
		missing := []string{}
		for _, d := range f.missing {
			missing = append(missing, d.String())
		}
		said["missing"] = missing
	}
	if len(facts) == 2 && complete {
		by := facts[0].value - facts[1].value
		said["difference"] = max(by, -by)
	}
	return said
}
