package plan

import (
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// Bounds of the search for an object in a text.
const (
	maxText   = 256 << 10 // bytes that are looked at
	maxBraces = 64        // places where one may begin
)

var (
	thinking = lazyregexp.New(`(?s)<think(?:ing)?>.*?</think(?:ing)?>`)
	openTag  = lazyregexp.New(`(?s)<think(?:ing)?>.*$`)
	fences   = lazyregexp.New("(?s)```[A-Za-z0-9_-]*[ \t]*\r?\n?(.*?)```")
)

// WithoutThinking drops <think> blocks; one that is not closed reaches to the
// end. White space around them stays.
func WithoutThinking(text string) string {
	return openTag.ReplaceAllString(thinking.ReplaceAllString(text, ""), "")
}

// FromText finds the JSON object in what an assistant wrote, outside of <think>
// blocks: the first in a fence, with or without a language, else the first that
// is between other words. ok is false if there is none.
func FromText(text string) (object string, ok bool) {
	text = WithoutThinking(text[:min(len(text), maxText)])
	for _, m := range fences.FindAllStringSubmatch(text, maxBraces) {
		if isObject(m[1]) {
			return strings.TrimSpace(m[1]), true
		}
	}
	for range maxBraces {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		text = text[at:]
		end := closing(text)
		if end > 0 && isObject(text[:end]) {
			return text[:end], true
		}
		text = text[max(end, 1):]
	}
	return "", false
}

func isObject(text string) bool {
	root, _, ok := tool.ParseJSON(text)
	return ok && root.Kind == '{'
}

// closing is the index after the brace that closes the one text begins with, 0 if
// none does. Braces in strings do not count.
func closing(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
