package recorder

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a miss's explanation.
const (
	maxDiffLines = 12
	excerptSize  = 60 // bytes of a value around its first difference
)

// diffRequests says in field terms what changed from a recorded request to the
// one that was made.
func diffRequests(old, now rawRequest) []string {
	d := &differ{}
	if old.method != now.method {
		d.add("method: %s → %s", excerpt(old.method, 0), excerpt(now.method, 0))
	}
	if old.url != now.url {
		d.text("url", old.url, now.url)
	}
	a, okA := parseJSON(old.body)
	b, okB := parseJSON(now.body)
	before := d.count
	if okA && okB {
		d.value("body", a, b)
	}
	if d.count == before && requestDigest("", "", old.body) != requestDigest("", "", now.body) {
		d.text("body", old.body, now.body) // no JSON, or a difference its values do not show
	}
	if more := d.count - len(d.lines); more > 0 {
		d.lines = append(d.lines, fmt.Sprintf("… and %d more", more))
	}
	return d.lines
}

func parseJSON(s string) (any, bool) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err == nil && !d.More()
}

type differ struct {
	lines []string
	count int
}

func (d *differ) add(format string, args ...any) {
	d.count++
	if d.count <= maxDiffLines {
		d.lines = append(d.lines, fmt.Sprintf(format, args...))
	}
}

func (d *differ) value(at string, old, now any) {
	switch a := old.(type) {
	case map[string]any:
		if b, ok := now.(map[string]any); ok {
			d.object(at, a, b)
			return
		}
	case []any:
		if b, ok := now.([]any); ok {
			d.array(at, a, b)
			return
		}
	case string:
		if b, ok := now.(string); ok {
			if a != b {
				d.text(at, a, b)
			}
			return
		}
	default:
		if old == now {
			return
		}
	}
	d.add("%s: %s → %s", at, show(old), show(now))
}

func (d *differ) object(at string, old, now map[string]any) {
	names := map[string]bool{}
	for name := range old {
		names[name] = true
	}
	for name := range now {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, was := old[name]
		b, is := now[name]
		switch path := at + field(name); {
		case !was:
			d.add("%s: added: %s", path, show(b))
		case !is:
			d.add("%s: removed; it was %s", path, show(a))
		default:
			d.value(path, a, b)
		}
	}
}

func (d *differ) array(at string, old, now []any) {
	if len(old) != len(now) {
		d.add("%s: %d → %d elements", at, len(old), len(now))
	}
	for i := range max(len(old), len(now)) {
		switch path := fmt.Sprintf("%s[%d]", at, i); {
		case i >= len(old):
			d.add("%s: added: %s", path, show(now[i]))
		case i >= len(now):
			d.add("%s: removed; it was %s", path, show(old[i]))
		default:
			d.value(path, old[i], now[i])
		}
	}
}

// text shows the first line that differs, around its first difference.
func (d *differ) text(at, old, now string) {
	if kind := withheld(old, now); kind != "" {
		d.add("%s: changed (withheld: it holds what looks like %s)", at, kind)
		return
	}
	same := old[:commonPrefix(old, now)]
	if strings.Contains(old+now, "\n") {
		at += fmt.Sprintf(": line %d", 1+strings.Count(same, "\n"))
		start := strings.LastIndexByte(same, '\n') + 1
		old, now = firstLine(old[start:]), firstLine(now[start:])
	}
	n := commonPrefix(old, now)
	d.add("%s: %s is now %s", at, excerpt(old, n), excerpt(now, n))
}

// withheld says what credential one of the texts seems to hold, "" for none.
func withheld(texts ...string) string {
	for _, s := range texts {
		if kind := (&detector{}).find(s); kind != "" {
			return kind
		}
	}
	return ""
}

// firstLine returns the first line of s with its newline.
func firstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1]
	}
	return s
}

// field appends a member's name to a path.
func field(name string) string {
	for _, c := range name {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "[" + excerpt(name, 0) + "]"
		}
	}
	if name == "" || len(name) > excerptSize {
		return "[" + excerpt(name, 0) + "]"
	}
	return "." + name
}

// show prints a JSON value, cut to a bounded length.
func show(v any) string {
	switch x := v.(type) {
	case string:
		if kind := withheld(x); kind != "" {
			return "(withheld: it holds what looks like " + kind + ")"
		}
		return excerpt(x, 0)
	case map[string]any:
		return fmt.Sprintf("an object with %d members", len(x))
	case []any:
		return fmt.Sprintf("an array with %d elements", len(x))
	case json.Number:
		return strings.Trim(excerpt(x.String(), 0), `"`)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// excerpt quotes a bounded part of s that holds the byte at at.
func excerpt(s string, at int) string {
	from, to := 0, len(s)
	if len(s) > excerptSize {
		from = max(0, min(at-excerptSize/3, len(s)-excerptSize))
		to = from + excerptSize
	}
	for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to--
	}
	q := strconv.Quote(s[from:to])
	if from > 0 {
		q = "…" + q
	}
	if to < len(s) {
		q += "…"
	}
	return q
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}
