package sim

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// The tools the models know.
const (
	todayRange   = "today_range"
	getCounts    = "get_counts"
	getJobStatus = "get_job_status"
)

// query is one question to get_counts.
type query struct {
	label string
	dateRange
}

// fact is what get_counts answered.
type fact struct {
	query
	state   factState
	value   int64
	missing []day // days without data inside the stretch
}

// factState says what a fact is worth.
type factState int

const (
	counted  factState = iota // value holds
	noData                    // the tool has none
	unusable                  // the result makes no sense
)

// toolUse is one tool call seen in the scratchpad.
type toolUse struct {
	tool string
	query
	job string // of get_job_status
	// exact says that the arguments could be read completely.
	exact bool
}

// notes is what the scratchpad tells.
type notes struct {
	today    *day
	facts    []fact
	jobs     map[string]string // the latest status by id
	last     *toolUse          // the latest call with a result
	failed   map[toolName]int  // failed attempts since the last success
	rejected int
	asked    bool
	replies  []string
	noCalls  bool
	violated bool
	denied   bool // the user refused a call
}

// toolName tells calls apart by tool and, for get_counts, query.
type toolName struct {
	tool string
	query
}

var resultLine = regexp.MustCompile(`^(?:tool result: )?turn \d+ (\w+) (.*?) ?-> (ok|error|timeout)\b([^<]*)<data>(.*)$`)

var replyLine = regexp.MustCompile(`^user reply: turn \d+ asked <data>.*?</data> answered <data>(.*)$`)

// readNotes reads the scratchpad's lines.
func readNotes(p prompt) notes {
	n := notes{failed: map[toolName]int{}, jobs: map[string]string{}, noCalls: p.noCalls()}
	for _, entry := range p.entries {
		switch {
		case strings.HasPrefix(entry, "tool rejected:"):
			n.rejected++
		case strings.HasPrefix(entry, "budget:"):
			n.noCalls = true
		case strings.HasPrefix(entry, "denied:"):
			n.denied = true
		case strings.HasPrefix(entry, "violation:"):
			n.violated = true
		case strings.HasPrefix(entry, "user reply:"):
			n.asked = true
			if m := replyLine.FindStringSubmatch(entry); m != nil {
				n.replies = append(n.replies, inFence(m[1]))
			}
		default:
			if m := resultLine.FindStringSubmatch(entry); m != nil {
				n.result(m[1], m[2], m[3], inFence(m[5]))
			} else if !observed.MatchString(entry) {
				n.summary(entry)
			}
		}
	}
	n.remember(p.plan)
	return n
}

// summary reads what a compressed scratchpad says.
func (n *notes) summary(entry string) {
	for _, m := range knownSentence.FindAllStringSubmatch(entry, -1) {
		if today, ok := parseDay(m[6]); ok {
			n.today = &today
			continue
		}
		if m[2] != "" {
			m[3], m[4] = m[2], m[2]
		}
		from, okFrom := parseDay(m[3])
		to, okTo := parseDay(m[4])
		value, err := strconv.ParseInt(m[5], 10, 64)
		if okFrom && okTo && err == nil {
			n.facts = append(n.facts, fact{query: query{label: m[1], dateRange: dateRange{from, to}}, value: value})
		}
	}
}

// inFence is text up to the end of its fence; a cut line has none.
func inFence(text string) string {
	inside, _, _ := strings.Cut(text, fenceClose)
	return inside
}

// result files one tool result.
func (n *notes) result(tool, args, outcome, data string) {
	use := toolUse{tool: tool}
	values, exact := members(args)
	use.query, use.exact = queryOf(values, "start_date", "end_date"), exact
	use.job, _ = values["id"].(string)
	if outcome != "ok" {
		n.failed[toolName{tool, use.query}]++
		return
	}
	n.last = &use
	n.rejected = 0
	values, whole := members(data)
	switch tool {
	case todayRange:
		if today, ok := readToday(values); ok {
			n.today = &today
			delete(n.failed, toolName{tool: tool})
		} else {
			n.failed[toolName{tool: tool}]++
		}
	case getCounts:
		if f, ok := readCount(use, values, whole); ok {
			n.facts = append(n.facts, f)
			delete(n.failed, toolName{tool, f.query})
		}
	case getJobStatus:
		if status, ok := values["status"].(string); ok {
			n.jobs[use.job] = status
			delete(n.failed, toolName{tool: tool})
		}
	}
}

// readToday takes today from a result of today_range.
func readToday(values map[string]any) (day, bool) {
	for _, key := range []string{"start_date", "start", "today", "date"} {
		if s, ok := values[key].(string); ok {
			return parseDay(s)
		}
	}
	return day{}, false
}

// readCount makes a fact of a result of get_counts. Only the label, the dates,
// the value and missing days are looked at: any other member is somebody's text.
// ok is false when a folded line is cut so far that it tells nothing.
func readCount(use toolUse, values map[string]any, whole bool) (f fact, ok bool) {
	f.query = use.query
	said := queryOf(values, "start", "end")
	if f.label == "" || f.from == (day{}) || f.to == (day{}) {
		f.query = said
	}
	if f.label == "" || f.from == (day{}) || f.to == (day{}) {
		return f, false
	}
	value, present := values["value"]
	switch v := value.(type) {
	case json.Number:
		if f.value, ok = wholeNumber(v); !ok {
			f.state = unusable
		}
	case nil:
		if !present && !whole {
			return f, false
		}
		f.state = noData
		if !present {
			f.state = unusable
		}
	default:
		f.state = unusable
	}
	if contradicts(f.query, said) {
		f.state = unusable
	}
	f.missing = missingDays(values, f.dateRange)
	return f, true
}

// contradicts reports whether the result is about something else.
func contradicts(asked, said query) bool {
	return said.label != "" && said.label != asked.label ||
		said.from != (day{}) && said.from != asked.from || said.to != (day{}) && said.to != asked.to
}

func queryOf(values map[string]any, from, to string) query {
	var q query
	q.label, _ = values["label"].(string)
	if s, ok := values[from].(string); ok {
		q.from, _ = parseDay(s)
	}
	if s, ok := values[to].(string); ok {
		q.to, _ = parseDay(s)
	}
	return q
}

// wholeNumber reads a count: not negative, no fraction.
func wholeNumber(v json.Number) (int64, bool) {
	if n, err := v.Int64(); err == nil {
		return n, n >= 0
	}
	f, err := v.Float64()
	n := int64(f)
	return n, err == nil && f >= 0 && f < 1<<53 && float64(n) == f
}

// missingDays reads a list of days from any member whose name says missing; it
// takes nothing but days inside the stretch.
func missingDays(values map[string]any, s dateRange) []day {
	var out []day
	for _, key := range []string{"missing", "missing_days", "missing_dates", "no_data"} {
		list, _ := values[key].([]string)
		for _, text := range list {
			if d, ok := parseDay(text); ok && !d.before(s.from) && !s.to.before(d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// members reads the top-level members of a JSON object that may be cut off:
// scalars, and lists of strings. whole says that it was not cut.
func members(text string) (out map[string]any, whole bool) {
	out = map[string]any{}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return out, false
	}
	name := ""
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			delete(out, name) // what comes before a cut may lack digits
			return out, false
		}
		name, _ = key.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return out, false
		}
		if v, ok := simple(raw); ok {
			out[name] = v
		}
	}
	if _, err := dec.Token(); err != nil {
		delete(out, name)
		return out, false
	}
	_, err := dec.Token()
	return out, err == io.EOF
}

// simple decodes scalars and lists of strings.
func simple(raw json.RawMessage) (any, bool) {
	switch raw[0] {
	case '[':
		var list []string
		err := json.Unmarshal(raw, &list)
		return list, err == nil
	case '{':
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err == nil
}
