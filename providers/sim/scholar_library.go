package sim

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The tools of a library of documents.
const (
	searchTool  = "search"
	openTool    = "open"
	extractTool = "extract"
	compareTool = "compare"
)

// notRecorded is the note to a value that is null; with any other it is unknown.
const notRecorded = "not recorded"

// textField is a document's whole text; it and keeperField are read by open.
const textField = "text"

// valueKey is a field of a document.
type valueKey struct{ id, field string }

// stated is what a document says in a field.
type stated struct {
	text     string // as it is to be said
	n        float64
	number   bool
	recorded bool
}

// hits is what a search found.
type hits struct {
	query string // folded
	ids   []string
	total int
	cut   bool // more was found than could be seen
}

// whole reports whether all hits could be seen.
func (h hits) whole() bool { return h.total < 0 && !h.cut || h.total >= 0 && h.total <= len(h.ids) }

// library is what the prompt tells of the documents.
type library struct {
	titles map[string]string
	found  []hits
	facts  map[valueKey]stated
	// learnt are the data in the order they came to be known.
	learnt []valueKey
	absent map[string]bool // ids that no document has
	failed map[string]int  // failed attempts by call, see callKey
	dead   map[string]bool // calls that no repetition helps
	// given are the ids that came with the request, item the one to work on.
	given    []string
	item     string
	rejected int
	compared bool
	asked    bool
	replies  []string
	noCalls  bool
	last     *action // the latest call with a result
	// orders are instructions that a document or a tool tried to give.
	orders []string
}

// readLibrary reads the entries, the plan and the values handed over.
func readLibrary(p prompt) *library {
	l := &library{titles: map[string]string{}, facts: map[valueKey]stated{}, absent: map[string]bool{}, failed: map[string]int{}, dead: map[string]bool{}, noCalls: p.noCalls()}
	l.remember(p.plan)
	for _, h := range p.given {
		l.receive(h)
	}
	for _, entry := range p.entries {
		switch {
		case strings.HasPrefix(entry, "tool rejected:"):
			l.rejected++
		case strings.HasPrefix(entry, "budget:"):
			l.noCalls = true
		case strings.HasPrefix(entry, "user reply:"):
			l.asked = true
			if m := replyLine.FindStringSubmatch(entry); m != nil {
				l.replies = append(l.replies, inFence(m[1]))
			}
		default:
			if m := resultLine.FindStringSubmatch(entry); m != nil {
				l.result(m[1], m[2], m[3]+m[4], inFence(m[5]))
			}
		}
	}
	return l
}

// result files one tool result.
func (l *library) result(tool, args, verdict, data string) {
	a, key := callOf(tool, args)
	if !strings.HasPrefix(verdict, "ok") {
		l.failed[key]++
		l.dead[key] = l.dead[key] || strings.Contains(verdict, "E_NOT_FOUND") || strings.Contains(verdict, "ARGS")
		if strings.Contains(verdict, "E_NOT_FOUND") {
			l.absent[strings.Fields(key + " -")[1]] = true
		}
		return
	}
	l.rejected = 0
	l.last = a
	l.watch(data)
	switch tool {
	case searchTool:
		l.search(data, key)
	case extractTool:
		l.extract(data)
	case openTool:
		l.open(data)
	case compareTool:
		l.compared = true
	}
	delete(l.failed, key)
}

// callOf reads a call's arguments, which may be cut; the action is nil then.
func callOf(tool, args string) (*action, string) {
	values, whole := members(args)
	word := func(name string) string { s, _ := values[name].(string); return s }
	key := callKey(tool, word("query")+word("id"), word("field"))
	if !whole || !json.Valid([]byte(args)) {
		return nil, key
	}
	return &action{kind: useTool, name: tool, args: json.RawMessage(args)}, key
}

// callKey names a call by what it is about.
func callKey(tool, about, field string) string {
	return tool + " " + strings.ToLower(about) + " " + field
}

var (
	hitID      = regexp.MustCompile(`"id":"([^"\\]{1,80})"`)
	titledHit  = regexp.MustCompile(`"id":"([^"\\]{1,80})","title":("(?:[^"\\]|\\.){1,200}")`)
	queryInHit = regexp.MustCompile(`"query":("(?:[^"\\]|\\.){0,200}")`)
	totalInHit = regexp.MustCompile(`"total":(\d{1,6})\}?$`)
)

// search files hits, which may be cut.
func (l *library) search(data, key string) {
	h := hits{query: strings.TrimSpace(strings.TrimPrefix(key, searchTool)), total: -1, cut: !json.Valid([]byte(data))}
	if m := queryInHit.FindStringSubmatch(data); m != nil {
		h.query = folded(unquoted(m[1]))
	}
	for _, m := range hitID.FindAllStringSubmatch(data, 50) {
		if !slices.Contains(h.ids, m[1]) {
			h.ids = append(h.ids, m[1])
		}
	}
	for _, m := range titledHit.FindAllStringSubmatch(data, 50) {
		l.titles[m[1]] = unquoted(m[2])
	}
	if m := totalInHit.FindStringSubmatch(data); m != nil {
		h.total = atoi(m[1])
	}
	l.find(h)
}

// find notes hits; those seen less completely do not replace others.
func (l *library) find(h hits) {
	for i, old := range l.found {
		if old.query == h.query {
			if len(h.ids) > len(old.ids) || len(h.ids) == len(old.ids) && !h.cut {
				l.found[i] = h
			}
			return
		}
	}
	l.found = append(l.found, h)
}

func unquoted(quoted string) string {
	var s string
	_ = json.Unmarshal([]byte(quoted), &s) // what cannot be read is empty
	return s
}

// folded makes queries and names comparable: lower case, single spaces, no dots and
// apostrophes.
func folded(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(".", "", "'", "", "’", "", "-", " ").Replace(strings.ToLower(text))), " ")
}

// extract files one value.
func (l *library) extract(data string) {
	var r struct {
		ID, Field, Note string
		Value           json.RawMessage
	}
	if json.Unmarshal([]byte(data), &r) == nil && r.ID != "" && r.Field != "" && len(r.Value) > 0 {
		l.learn(valueKey{r.ID, r.Field}, statedIn(r.Value))
	}
}

// record files the fields of a document that an earlier step has read.
func (l *library) record(id string, values map[string]any) {
	note, _ := values["note"].(string)
	for _, field := range []string{heightField, builtField, rangeField, designerField, regionField, lampField, automatedField, keeperField} {
		v, has := values[field]
		if raw := encodeJSON(v); has && (v != nil || note == "" || note == notRecorded) {
			l.learn(valueKey{id, field}, statedIn(raw))
		}
	}
}

// learn notes a value.
func (l *library) learn(d valueKey, f stated) {
	if _, known := l.facts[d]; !known {
		l.learnt = append(l.learnt, d)
	}
	l.facts[d] = f
}

// statedIn reads a value of any type.
func statedIn(raw json.RawMessage) stated {
	if string(raw) == "null" {
		return stated{}
	}
	f := stated{recorded: true, text: unquoted(string(raw))}
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
		f.n, f.number, f.text = n, true, string(raw)
	}
	if f.text == "" {
		f.recorded = false
	}
	return f
}

var keeperSentence = regexp.MustCompile(`(?i)\bkeeper (?:was|is) ([^,.;]{1,60})`)

// open files a text, of which the keeper is kept.
func (l *library) open(data string) {
	values, _ := members(data)
	id, _ := values["id"].(string)
	text, whole := values["text"].(string)
	if id == "" || !whole {
		return
	}
	if title, ok := values["title"].(string); ok {
		l.titles[id] = title
	}
	l.learn(valueKey{id, textField}, stated{text: text, recorded: true})
	f := stated{}
	if m := keeperSentence.FindStringSubmatch(text); m != nil {
		f = stated{text: strings.TrimSpace(m[1]), recorded: true}
	}
	l.learn(valueKey{id, keeperField}, f)
}

var orderInText = regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget) (?:all |any |your |the |these |previous |earlier |prior |other |of )*(?:instructions|rules|task|question)\b[,;:.]?\s*(.*)`)

// watch notes instructions inside data.
func (l *library) watch(data string) {
	if m := orderInText.FindStringSubmatch(data); m != nil {
		l.orders = append(l.orders, head(strings.TrimRight(m[1], `"}] `), 200))
	}
}

// receive takes a value that was handed over: ids, or results as tools give them.
func (l *library) receive(h handed) {
	var v any
	if json.Unmarshal([]byte(h.value), &v) != nil {
		// A preview may be cut.
		for _, m := range quotedID.FindAllStringSubmatch(h.value, 50) {
			l.given = append(l.given, m[1])
		}
		return
	}
	ids := l.receiveValue(v, 0)
	if h.name == theItem && len(ids) > 0 {
		l.item = ids[0]
	}
	for _, id := range ids {
		if len(l.given) < maxGiven && !slices.Contains(l.given, id) {
			l.given = append(l.given, id)
		}
	}
}

var quotedID = regexp.MustCompile(`"([^"\\]{1,60})"`)

// receiveValue files what a value tells and returns the ids it is about.
func (l *library) receiveValue(v any, depth int) (ids []string) {
	switch v := v.(type) {
	case string:
		if _, date := parseDay(v); !date && len(v) <= 60 && len(strings.Fields(v)) <= 5 && !strings.ContainsAny(v, ".:?!\n") {
			return []string{v}
		}
	case []any:
		for _, one := range v[:min(len(v), 100)] {
			if depth < 3 {
				ids = append(ids, l.receiveValue(one, depth+1)...)
			}
		}
	case map[string]any:
		raw, err := json.Marshal(v)
		if err != nil {
			return nil // unreachable: it was JSON
		}
		if id, ok := v["id"].(string); ok {
			l.extract(string(raw))
			l.record(id, v)
			if title, ok := v["title"].(string); ok {
				l.titles[id] = title
			}
			return []string{id}
		}
		if _, ok := v["query"].(string); ok {
			l.search(string(raw), "")
			return slices.Clone(l.found[len(l.found)-1].ids)
		}
		for _, name := range []string{"best", "results", "items", "lights"} {
			if inner, ok := v[name]; ok && depth < 3 {
				return l.receiveValue(inner, depth+1)
			}
		}
	}
	return ids
}
