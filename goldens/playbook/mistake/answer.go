package mistake

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// numeral matches a number that is not a part of a date, a time or a name.
var numeral = lazyregexp.New(`(?:^|[\s("':,\[])(-?\d+(?:\.\d+)?)(?:$|[\s)"'.,;:!?%\]}])`)

// Number makes one number of an answer another, in its text and its value
// equally; ok is false if it has none.
func Number(text string, value json.RawMessage, detail uint64) (wrongText string, wrongValue json.RawMessage, ok bool) {
	from := text
	if text == "" {
		from = string(value)
	}
	found := numeral.FindAllStringSubmatch(from, -1)
	if len(found) == 0 {
		return text, value, false
	}
	was := found[detail%uint64(len(found))][1]
	whole, fraction, _ := strings.Cut(was, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return text, value, false
	}
	is := strconv.Itoa(n + 1 - 2*int(detail>>8&1) + int(detail>>9%3)*10)
	if fraction != "" {
		is += "." + fraction
	}
	replace := func(s string) string {
		return numeral.ReplaceAllStringFunc(s, func(m string) string {
			if numeral.FindStringSubmatch(m)[1] != was {
				return m
			}
			return strings.Replace(m, was, is, 1)
		})
	}
	changed := json.RawMessage(replace(string(value)))
	if value == nil || !json.Valid(changed) {
		changed = value
	}
	return replace(text), changed, true
}

// dated matches the names of members that hold dates.
var dated = lazyregexp.New(`(?i)date|day|start|end|from|until|^to$|^at$`)

// Result is a made-up result of a call: like the latest of the same tool with other
// numbers, or else an object of what its arguments say and a number.
func Result(a playbook.Action, seen playbook.Seen, detail uint64) json.RawMessage {
	for _, r := range slices.Backward(seen.Results) {
		if r.Tool == a.Tool && r.Code == "" {
			_, value, _ := Number("", r.Value, detail)
			return value
		}
	}
	members := map[string]any{}
	_ = json.Unmarshal(a.Args, &members) // canonical arguments are an object
	for _, name := range []string{"value", "count", "total", "id", "status", "start_date", "end_date", "date", "today"} {
		if _, ok := members[name]; ok {
			continue
		}
		members[name] = 100 + detail%900
		if dated.MatchString(name) || name == "today" {
			members[name] = time.Date(2024, 1, 1+int(detail%600), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		}
	}
	members["results"], members["status"] = []any{}, "done"
	return json.RawMessage(plainjson.Text(members))
}
