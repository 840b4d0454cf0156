package contract

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// maxRepair bounds what is repaired, in bytes; a longer output is not acted on anyway.
const maxRepair = 64 << 10

// The blocks of a contract object.
const (
	blockControl = "control"
	blockAction  = "next_action"
	blockUpdate  = "state_update"
)

// Repaired is what the repair pass made of an output.
type Repaired struct {
	// Text is the one contract-shaped object, as JSON; "" if nothing was repaired.
	Text string
	// Applied names the steps that changed the text, in the order of
	// docs/contract.md; nil if nothing was repaired.
	Applied []string
	// Ambiguous reports that nothing was repaired although there is a
	// contract-shaped object, because the output contains another one, or parts of one.
	Ambiguous bool
}

// Repair makes one local, deterministic attempt to find the contract object in an
// output. It acts only if the whole output holds exactly one contract-shaped
// object: one with a key control, next_action or state_update. Equal copies count
// as one. Text in the strings of that object and in think blocks does not count;
// any other text counts as a second object where it names one of these keys. Repair
// never completes truncated JSON and never invents a value. An output that is a
// JSON object is returned as it is, and one beyond 64 KiB is not repaired. The time
// taken is linear in the length of raw.
func Repair(raw string) Repaired {
	return find(raw, target{is: isTurn, traced: namesTurnKey, begins: rawKey.MatchString})
}

// Object finds the one JSON object in a text by the rules of Repair, with any
// keys. ok is false if there is none, or if there are two that differ.
func Object(raw string) (text string, ok bool) {
	never := func(string) bool { return false }
	text = find(raw, target{is: func(tool.JSON) bool { return true }, traced: never, begins: never}).Text
	return text, text != ""
}

// target is what the repair pass looks for.
type target struct {
	// is reports whether an object is one.
	is func(tool.JSON) bool
	// traced reports whether text outside an object may be another one, or a part.
	traced func(string) bool
	// begins reports whether text in a think block may be the beginning of one.
	begins func(string) bool
}

// isTurn reports whether an object is contract-shaped.
func isTurn(v tool.JSON) bool {
	return slices.ContainsFunc(v.Members, func(m tool.Member) bool {
		return m.Name == blockControl || m.Name == blockAction || m.Name == blockUpdate
	})
}

// turnKey matches a key of a contract object: in quotes of any sort, escaped or
// not, or bare after a brace or comma. rawKey matches one as an object has it, and
// letter a letter written as an escape.
var (
	turnKey = lazyregexp.New(`(?:["']|[{,]\s*)(?:control|next_action|state_update)(?:\\*["'])?\s*:`)
	rawKey  = lazyregexp.New(`[{,]\s*["'](?:control|next_action|state_update)["']\s*:`)
	letter  = lazyregexp.New(`\\+u00[4-7][[:xdigit:]]`)
)

// namesTurnKey reports whether text names a key of a contract object, its letters
// escaped or not.
func namesTurnKey(text string) bool {
	if strings.Contains(text, `\u00`) {
		text = letter.ReplaceAllStringFunc(text, func(escape string) string {
			code, _ := strconv.ParseUint(escape[len(escape)-2:], 16, 8) // two hexadecimal digits
			return string(rune(code))
		})
	}
	return turnKey.MatchString(text)
}

func find(raw string, t target) Repaired {
	if len(raw) > maxRepair {
		return Repaired{}
	}
	if isObject(raw) {
		return Repaired{Text: raw}
	}
	text := invisible.Trim(raw)
	f := finder{lexer: lexer{text: text}, target: t, steps: map[string]bool{stepTrim: text != raw}, fence: none, drafted: none}
	f.scan()
	f.scanQuoted()
	return f.result()
}

func isObject(text string) bool {
	root, _, ok := tool.ParseJSON(text)
	return ok && root.Kind == '{'
}

// decodeString decodes a text that is one JSON string, unless decoding would
// replace a lone surrogate.
func decodeString(text string) (decoded string, ok bool) {
	root, _, ok := tool.ParseJSON(text)
	if !ok || root.Kind != '"' {
		return "", false
	}
	const replacement = "\uFFFD"
	decoded = root.Text()
	return decoded, strings.Count(decoded, replacement) <= strings.Count(text, replacement)
}
