package cassette

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/internal/plainjson"
	"github.com/cupel-eval/cupel/recorder/internal/canonical"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// These bound a miss's explanation.
const (
	maxDiffLines = 12
	maxTextHunks = 4  // changes shown of one text
	excerptSize  = 60 // bytes of a value around its first difference
	placeSize    = 160
	maxNesting   = 4 // of JSON in the strings of JSON
)

// diffRequests lists the changed fields from a recorded request to the new one. Fields of a
// JSON body appear under their own names.
func diffRequests(old, now Request) []string {
	d := &differ{}
	if old.Role != now.Role {
		d.text("role", old.Role, now.Role)
	}
	if old.Method != now.Method {
		d.text("method", old.Method, now.Method)
	}
	if old.URL != now.URL {
		d.text("url", old.URL, now.URL)
	}
	d.body(old.Body, now.Body)
	return d.all()
}

type differ struct {
	lines []string
	count int
	// nested is the number of enclosing JSON strings.
	nested int
}

// all returns the lines and the number of omitted ones.
func (d *differ) all() []string {
	if more := d.count - len(d.lines); more > 0 {
		return append(d.lines, fmt.Sprintf("… and %d more", more))
	}
	return d.lines
}

func (d *differ) add(at, format string, args ...any) {
	d.count++
	if d.count <= maxDiffLines {
		d.lines = append(d.lines, place(at)+": "+fmt.Sprintf(format, args...))
	}
}

// body compares two bodies: as JSON, as streams of JSON events, else as text.
func (d *differ) body(old, now string) {
	a, okA := parseBody(old)
	b, okB := parseBody(now)
	before := d.count
	if okA && okB {
		d.value("", a, b)
	}
	if d.count == before && canonical.Digest("", "", old) != canonical.Digest("", "", now) {
		d.text("", old, now) // not JSON, or a difference that its values do not show
	}
}

// parseBody reads a body as JSON; a stream of JSON events is an object whose
// member events is a list.
func parseBody(s string) (any, bool) {
	if v, ok := parseJSON(s); ok {
		return v, true
	}
	var events []any
	for line := range strings.Lines(s) {
		text, isData := strings.CutPrefix(line, "data:")
		if !isData {
			continue
		}
		v, ok := parseJSON(text)
		if !ok {
			v = strings.TrimSpace(text) // such as [DONE]
		}
		events = append(events, v)
	}
	return map[string]any{"events": events}, events != nil
}

func parseJSON(s string) (any, bool) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, errors.Is(err, io.EOF)
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
	d.add(at, "%s → %s", show(old), show(now))
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
		switch path := at + field(at, name); {
		case !was:
			d.add(path, "added %s", show(b))
		case !is:
			d.add(path, "removed; it was %s", show(a))
		default:
			d.value(path, a, b)
		}
	}
}

// array aligns equal elements, so that an inserted one does not change all that follow.
func (d *differ) array(at string, old, now []any) {
	at = cmp.Or(at, "body")
	for _, h := range hunks(compactAll(old), compactAll(now)) {
		both := min(h.b-h.a, h.d-h.c)
		for i := range both {
			d.value(fmt.Sprintf("%s[%d]", at, h.c+i), old[h.a+i], now[h.c+i])
		}
		for i, v := range old[h.a+both : h.b] {
			d.add(element(at, h.a+both+i, v), "removed %s", show(v))
		}
		for i, v := range now[h.c+both : h.d] {
			d.add(element(at, h.c+both+i, v), "added %s", show(v))
		}
	}
}

// element is the path of an element; one that is identified by its value uses the name of
// its list.
func element(at string, i int, v any) string {
	switch v.(type) {
	case map[string]any, []any:
		return fmt.Sprintf("%s[%d]", at, i)
	}
	return at
}

func compactAll(values []any) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = plainjson.Text(v)
	}
	return texts
}

// text compares two texts: by field if both are JSON, by line if one has
// several, else around their first difference.
func (d *differ) text(at, old, now string) {
	if kind := credentialIn(old, now); kind != "" {
		d.add(at, "changed (withheld: it holds what looks like %s)", kind)
		return
	}
	if d.embedded(at, old, now) {
		return
	}
	if !strings.Contains(old+now, "\n") {
		n := commonPrefix(old, now)
		d.add(at, "%s → %s", excerpt(old, n), excerpt(now, n))
		return
	}
	a, b := strings.Split(old, "\n"), strings.Split(now, "\n")
	changes := hunks(a, b)
	for i, h := range changes {
		if i == maxTextHunks {
			d.add(at, "%d more changes of its lines", len(changes)-i)
			return
		}
		d.add(at, "%s", linesChanged(a[h.a:h.b], b[h.c:h.d], h))
	}
}

// linesChanged describes the changes of some lines, counted from 1.
func linesChanged(old, now []string, h hunk) string {
	switch {
	case len(old) == 0:
		return fmt.Sprintf("%s added (%s)", lineNumbers(h.c, h.d), excerpt(now[0], 0))
	case len(now) == 0:
		return fmt.Sprintf("%s removed (%s)", lineNumbers(h.a, h.b), excerpt(old[0], 0))
	}
	n := commonPrefix(old[0], now[0])
	size := ""
	if len(old) != len(now) {
		size = fmt.Sprintf(", %d → %d lines", len(old), len(now))
	}
	return fmt.Sprintf("%s changed%s (%s → %s)", lineNumbers(h.c, h.d), size, excerpt(old[0], n), excerpt(now[0], n))
}

func lineNumbers(from, to int) string {
	if to-from == 1 {
		return fmt.Sprintf("line %d", to)
	}
	return fmt.Sprintf("lines %d–%d", from+1, to)
}

// embedded compares two strings that each contain a JSON object or array, as in models'
// answers. It is false if that shows no difference.
func (d *differ) embedded(at, old, now string) bool {
	if at == "" || d.nested == maxNesting || !looksJSON(old) || !looksJSON(now) {
		return false
	}
	a, okA := parseJSON(old)
	b, okB := parseJSON(now)
	if !okA || !okB {
		return false
	}
	before := d.count
	d.nested++
	d.value(at+"(JSON)", a, b)
	d.nested--
	return d.count > before
}

func looksJSON(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")
}

// credentialIn returns the kind of credential in one of the texts, "" if there is none.
func credentialIn(texts ...string) string {
	for _, s := range texts {
		if kind := (*secrets.Finder)(nil).Find(s); kind != "" {
			return kind
		}
	}
	return ""
}

// field appends a member's name to a path. An ambiguous name is quoted.
func field(at, name string) string {
	plainName := name != "" && len(name) <= excerptSize
	for _, c := range name {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			plainName = false
		}
	}
	switch {
	case credentialIn(name) != "":
		return "[a name withheld]"
	case !plainName, at == "" && slices.Contains([]string{"role", "method", "url", "status", "failed", "body"}, name):
		return "[" + excerpt(name, 0) + "]"
	case at == "":
		return name
	}
	return "." + name
}

// place is a path with its middle cut to a bounded length; empty for the whole body.
func place(at string) string {
	if at == "" {
		return "body"
	}
	if len(at) <= placeSize {
		return at
	}
	return at[:runeStart(at, placeSize/2)] + "…" + at[runeStart(at, len(at)-placeSize/2):]
}

// show prints a JSON value, cut to a bounded length.
func show(v any) string {
	text := plainjson.Text(v)
	if kind := credentialIn(text); kind != "" {
		return "(withheld: it holds what looks like " + kind + ")"
	}
	if s, ok := v.(string); ok {
		return excerpt(s, 0)
	}
	// JSON has its own quotes and escapes, so only characters unsafe for a terminal are
	// escaped.
	text = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(excerpt(text, 0))
	cut := strings.HasSuffix(text, "…")
	text = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(text, `"`), "…"), `"`)
	if cut {
		text += "…"
	}
	return text
}

// excerpt quotes a bounded part of s that includes the byte at at.
func excerpt(s string, at int) string {
	from, to := 0, len(s)
	if len(s) > excerptSize {
		from = max(0, min(at-excerptSize/3, len(s)-excerptSize))
		to = from + excerptSize
	}
	from, to = runeStart(s, from), runeStart(s, to)
	q := strconv.Quote(s[from:to])
	if from > 0 {
		q = "…" + q
	}
	if to < len(s) {
		q += "…"
	}
	return q
}

// runeStart returns the start of the rune at byte i. In invalid UTF-8 it searches no
// further than a rune's length.
func runeStart(s string, i int) int {
	for back := range utf8.UTFMax {
		if i-back <= 0 || i == len(s) || utf8.RuneStart(s[i-back]) {
			return i - back
		}
	}
	return i
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
