package sim

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A model's plan is the one thing of its own that it sees again: there it keeps what
// it has found, because the scratchpad folds results and drops the oldest ones.

// maxMemory bounds what is kept, in characters: a plan is shown to the 600th.
const maxMemory = 520

var (
	keptHits   = regexp.MustCompile(`hits (\d+|\?) of ("(?:[^"\\]|\\.){0,200}"): ([a-z0-9 -]*)`)
	keptFigure = regexp.MustCompile(`([a-z0-9]+(?:-[a-z0-9]+)*)\.([a-z_]+)=("(?:[^"\\]|\\.){0,200}"|none|-?[0-9][0-9.eE+-]*)`)
)

// keep writes what is known for the plan: "known: some-light.height_m=38; hits 2 of
// "north coast": some-light another". The latest data give way: they are still in the
// scratchpad.
func (l *library) keep() string {
	var parts []string
	for _, h := range l.found {
		total := "?"
		if h.total >= 0 {
			total = strconv.Itoa(h.total)
		}
		quoted, err := json.Marshal(h.query)
		if err == nil {
			parts = append(parts, "hits "+total+" of "+string(quoted)+": "+strings.Join(h.ids, " "))
		}
	}
	if l.compared {
		parts = append(parts, "compared")
	}
	length := len(strings.Join(parts, "; "))
	var data []string
	for _, d := range l.learnt {
		item := d.id + "." + d.field + "=" + l.facts[d].kept()
		if d.field == textField || length+len(item)+2 > maxMemory {
			continue
		}
		length += len(item) + 2
		data = append(data, item)
	}
	if len(data) > 0 {
		parts = append([]string{strings.Join(data, ", ")}, parts...)
	}
	if len(parts) == 0 {
		return ""
	}
	return known + strings.Join(parts, "; ")
}

// kept is a figure as a plan has it.
func (f stated) kept() string {
	switch {
	case !f.recorded:
		return "none"
	case f.number:
		return f.text
	}
	quoted, err := json.Marshal(head(f.text, 60))
	if err != nil {
		return "none" // unreachable: a string
	}
	return string(quoted)
}

// remember reads a plan back.
func (l *library) remember(plan string) {
	_, list, ok := strings.Cut(plan, known)
	if !ok {
		return
	}
	for _, m := range keptFigure.FindAllStringSubmatch(list, 100) {
		raw := m[3]
		if raw == "none" {
			raw = "null"
		}
		l.learn(valueKey{m[1], m[2]}, statedIn(json.RawMessage(raw)))
	}
	for _, m := range keptHits.FindAllStringSubmatch(list, 20) {
		h := hits{query: unquoted(m[2]), ids: strings.Fields(m[3]), total: -1}
		if n, err := strconv.Atoi(m[1]); err == nil {
			h.total = n
		}
		h.cut = h.total < 0
		l.find(h)
	}
	l.compared = l.compared || slices.Contains(strings.Fields(strings.ReplaceAll(list, ";", " ")), "compared")
}
