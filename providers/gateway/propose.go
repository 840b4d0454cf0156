package gateway

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// kind is a text that differs from one run to the next without a meaning.
type kind struct {
	pattern *lazyregexp.Regexp
	// rule is what rules replace: the complete match, or its group, which must look random or
	// else is a word or a version. It matches neither words nor numbers.
	rule string
}

// kinds are all kinds, the more specific ones first. A date without a time is none: it is part
// of a task. Neither is a number.
var kinds = []kind{
	{lazyregexp.New(uuid), uuid},
	{lazyregexp.New(stamp), stamp},
	{lazyregexp.New(temporary + `tmp[._]?(\w{6,10})\b`), `\w{6,10}\b`},
	{lazyregexp.New(temporary + `[\w.-]{0,40}[-._]([0-9A-Za-z]{6,64})\b`), `\w*(?:\d[A-Za-z]|[A-Za-z]\d|[a-z][A-Z])\w*`},
	{lazyregexp.New(`\b([0-9a-f]{8,64})\b`), mixed},
	{lazyregexp.New(`\b[A-Za-z]{1,20}[_-]([0-9A-Za-z]{8,64})\b`), mixed},
}

const (
	uuid  = `\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`
	stamp = `\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?`
	mixed = `[0-9A-Za-z]*(?:\d[A-Za-z]|[A-Za-z]\d)[0-9A-Za-z]*`
)

// temporary are the folders of temporary files on Linux, macOS and Windows.
const temporary = `(?:(?:/private)?/(?:var/)?tmp/|(?:/private)?/var/folders/\w{2}/\w+/T/|[A-Za-z]:\\Users\\[^\\/:*?"<>|]{1,64}\\AppData\\Local\\Temp\\)`

// unixTime is a time in s, ms, µs or ns.
var unixTime = lazyregexp.New(`^1[6-9]\d{8}(?:\d{3}){0,3}$`)

// round is a time to the minute, which somebody chose.
var round = lazyregexp.New(`:00(?:\.0+)?(?:Z|[+-]\d{2}:?\d{2})?$`)

// plainPointer is a pointer that needs no quotes in YAML, and content one to what an agent
// says, of which rules may only replace parts.
var (
	plainPointer = lazyregexp.New(`^(?:/[A-Za-z0-9_.-]{1,64}){1,8}$`)
	content      = lazyregexp.New(`^/(?:model|input|prompt|system|instructions|messages?|contents?|query|text)(?:/|$)`)
)

const (
	mostTexts  = 64      // differing places that are looked at
	mostRules  = 8       // rules that are proposed
	mostBody   = 4 << 20 // bytes of a body that is looked at
	mostBefore = 32      // bytes of a text before what a rule replaces
)

// Proposed are rules for what differs between two requests, as texts.
type Proposed struct{ Ignore, Replace []string }

// Lines are the lines of a candidate's settings, such as `ignore: [/session]`.
func (p Proposed) Lines() (lines []string) {
	if len(p.Ignore) > 0 {
		lines = append(lines, "ignore: ["+strings.Join(p.Ignore, ", ")+"]")
	}
	var quoted []string
	for _, pattern := range p.Replace {
		quoted = append(quoted, "'"+strings.ReplaceAll(pattern, "'", "''")+"'")
	}
	if len(quoted) > 0 {
		lines = append(lines, "replace: ["+strings.Join(quoted, ", ")+"]")
	}
	return lines
}

// rules are the same rules, compiled.
func (p Proposed) rules() Rules {
	r := Rules{Ignore: p.Ignore}
	for _, pattern := range p.Replace {
		r.Replace = append(r.Replace, regexp.MustCompile(pattern))
	}
	return r
}

// Propose returns rules that make two compared bodies equal which differ only in short texts
// without a meaning: UUIDs, random identifiers, times to the second, random names in folders of
// temporary files, and members that are a Unix time. A rule replaces such a text only behind
// the same words. There are no rules if the bodies differ in anything else, or in a value that
// is elsewhere in the other body, which is a choice.
func Propose(recorded, now []byte) Proposed {
	p := proposer{recorded: string(recorded), now: string(now)}
	if max(len(recorded), len(now)) > mostBody || p.recorded == p.now {
		return Proposed{}
	}
	var a, b any
	if decode(recorded, &a) != nil || decode(now, &b) != nil || !p.value("", false, a, b) {
		return Proposed{}
	}
	out := Proposed{Ignore: slices.Sorted(maps.Keys(p.ignore)), Replace: p.replace}
	if len(out.Ignore)+len(out.Replace) > mostRules || !out.Equal(recorded, now) {
		return Proposed{}
	}
	return out
}

// Equal reports that two bodies are equal under the rules.
func (p Proposed) Equal(a, b []byte) bool {
	rules := p.rules()
	x, errX := Request{Body: a}.Compared(rules)
	y, errY := Request{Body: b}.Compared(rules)
	return errX == nil && errY == nil && bytes.Equal(x.Body, y.Body)
}

func decode(text []byte, v *any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

// proposer collects the rules for what differs between two bodies.
type proposer struct {
	recorded, now string
	ignore        map[string]bool
	replace       []string
	texts         int
}

// value reports that rules make two values equal. listed says that the pointer goes through
// an array, whose indexes differ between requests.
func (p *proposer) value(pointer string, listed bool, a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for _, name := range slices.Sorted(maps.Keys(a)) {
			other, ok := b[name]
			if !ok || !p.value(pointer+"/"+name, listed, a[name], other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !p.value(pointer+"/"+strconv.Itoa(i), true, a[i], b[i]) {
				return false
			}
		}
		return true
	case string:
		b, ok := b.(string)
		return ok && (a == b || p.text(pointer, listed, a, b))
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || !listed && unixTime.MatchString(a.String()) && unixTime.MatchString(b.String()) && p.member(pointer))
	}
	return a == b
}

// text reports that rules make two texts equal.
func (p *proposer) text(pointer string, listed bool, a, b string) bool {
	if pointer == "/model" {
		return false
	}
	whole := false
	var patterns []string
	for _, k := range kinds {
		as, bs := k.pattern.FindAllStringSubmatchIndex(a, -1), k.pattern.FindAllStringSubmatchIndex(b, -1)
		if len(as) != len(bs) {
			continue
		}
		for i, was := range as {
			x, y := a[was[0]:was[1]], b[bs[i][0]:bs[i][1]]
			if x == y {
				continue
			}
			pattern, ok := k.between(a, b, was, bs[i])
			if p.texts++; !ok || p.texts > mostTexts || round.MatchString(x) && round.MatchString(y) || strings.Contains(p.now, x) || strings.Contains(p.recorded, y) {
				return false
			}
			whole = whole || len(x) == len(a) && len(y) == len(b)
			if !slices.Contains(patterns, pattern) {
				patterns = append(patterns, pattern)
			}
		}
		// Of each kind, what is at the same places becomes the same.
		a, b = replaced(a, b, as, bs)
		if a == b {
			break
		}
	}
	if a != b {
		return false
	}
	if whole && !listed && p.member(pointer) {
		return true
	}
	for _, pattern := range patterns {
		if pattern == "" {
			return false
		}
		if !slices.Contains(p.replace, pattern) {
			p.replace = append(p.replace, pattern)
		}
	}
	return true
}

// replaced returns two texts without the places in them that differ.
func replaced(a, b string, as, bs [][]int) (string, string) {
	for i, was := range slices.Backward(as) {
		if is := bs[i]; a[was[0]:was[1]] != b[is[0]:is[1]] {
			a, b = a[:was[0]]+Replaced+a[was[1]:], b[:is[0]]+Replaced+b[is[1]:]
		}
	}
	return a, b
}

// member ignores a member if that is possible.
func (p *proposer) member(pointer string) bool {
	if !plainPointer.MatchString(pointer) || content.MatchString(pointer) {
		return false
	}
	if p.ignore == nil {
		p.ignore = map[string]bool{}
	}
	p.ignore[pointer] = true
	return true
}

// between returns the rule for what is at two places of two texts, which begins with the words
// before it; empty if there are too few. ok is false if the texts there mean something.
func (k kind) between(a, b string, was, is []int) (pattern string, ok bool) {
	last := len(was) - 2
	from, end := was[last], is[last]
	if last > 0 {
		x, y := a[from:was[last+1]], b[end:is[last+1]]
		if a[was[0]:from] != b[is[0]:end] || !random(x) || !random(y) || !differ(x, y) {
			return "", false
		}
	}
	x, y := before(a[:from]), before(b[:end])
	switch {
	case x != "" && x == y:
		return x + strings.TrimPrefix(k.rule, `\b`), true
	case k.rule == uuid: // never is a word or a number
		return uuid, true
	}
	return "", true
}

// before returns a pattern of the end of a text: its last words, without digits, or the
// complete text. Empty means that it has too few letters to tell a place.
func before(text string) string {
	words := text[max(0, len(text)-mostBefore):]
	for len(words) > 0 && !utf8.RuneStart(words[0]) {
		words = words[1:]
	}
	if i := strings.LastIndex(words, Replaced); i >= 0 {
		words = words[i+len(Replaced):]
	}
	if i := strings.LastIndexFunc(words, unreadable); i >= 0 {
		_, size := utf8.DecodeRuneInString(words[i:])
		words = words[i+size:]
	}
	if len(words) == len(text) {
		return "^" + literal(words)
	}
	if r, _ := utf8.DecodeLastRuneInString(text[:len(text)-len(words)]); inWord(r) {
		words = strings.TrimLeftFunc(words, inWord)
	}
	words = strings.TrimLeft(words, " ")
	letters := 0
	for _, r := range words {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	if letters < 3 {
		return ""
	}
	return literal(words)
}

// unreadable reports a character that no rule names: digits may differ, too.
func unreadable(r rune) bool {
	return unicode.IsDigit(r) || r == utf8.RuneError || r != '\n' && r != '\t' && !unicode.IsPrint(r)
}

// literal is a pattern of a text, on one line.
func literal(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(regexp.QuoteMeta(text))
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// random reports that a text changes at least twice between digits, small and capital letters.
func random(text string) bool {
	class := func(r rune) int {
		switch {
		case unicode.IsDigit(r):
			return 0
		case unicode.IsUpper(r):
			return 1
		}
		return 2
	}
	changes, last := 0, -1
	for _, r := range text {
		if c := class(r); c != last {
			changes, last = changes+1, c
		}
	}
	return changes > 2
}

// differ reports that two texts differ in more than a third of their places, which versions
// and numbered names do not.
func differ(a, b string) bool {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return 3*n > min(len(a), len(b))
}
