package contract

import (
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
)

// maxRepair bounds what is repaired, in bytes; a longer output is not acted on anyway.
const maxRepair = 64 << 10

// Repair makes one local, deterministic attempt to find the single JSON object
// in raw. Its steps, in order: trim, think_tags, double_encoded, code_fence,
// single_element_array, first_balanced_object, strip_comments, trailing_commas,
// python_literals, single_quotes; it stops at the first text that parses to an
// object. It never completes truncated JSON and never invents a value. applied
// names the steps that changed the text; ok says whether text parses to an
// object, and if not, text and applied are empty. An output beyond 64 KiB is
// not repaired. The time taken is linear in the length of raw.
func Repair(raw string) (text string, applied []string, ok bool) {
	if len(raw) > maxRepair {
		return "", nil, false
	}
	if isObject(raw) {
		return raw, nil, true
	}
	text = raw
	for _, step := range [...]struct {
		name  string
		apply func(string) string
	}{
		{stepTrim, trim},
		{stepThinkTags, dropThinking},
		{stepDoubleEncoded, decodeString},
		{stepCodeFence, openFence},
		{stepSingleElement, onlyElement},
		{stepFirstObject, firstObject},
		{stepComments, stripComments},
		{stepTrailingCommas, dropTrailingCommas},
		{stepPython, translateLiterals},
		{stepSingleQuotes, requote},
	} {
		changed := step.apply(text)
		if changed == text {
			continue
		}
		text = changed
		applied = append(applied, step.name)
		if isObject(text) {
			return text, applied, true
		}
	}
	return "", nil, false
}

func isObject(text string) bool {
	root, _, ok := tool.ParseJSON(text)
	return ok && root.Kind == '{'
}

// trim drops white space, byte-order marks and zero-width characters at both ends.
func trim(text string) string { return strings.TrimFunc(text, isInvisible) }

// dropThinking drops everything up to the end of a think block that comes before
// the first brace, or up to a closing tag whose opening tag was in the prompt. A
// block that is not closed leaves nothing: the output ended before the answer,
// and an object inside would be a draft.
func dropThinking(text string) string {
	for {
		open, tag := firstTag(text, "<think>", "<thinking>")
		if tag == "" || strings.IndexByte(text[:open], '{') >= 0 {
			break
		}
		end := "</" + tag[1:]
		closed := strings.Index(text[open:], end)
		if closed < 0 {
			return ""
		}
		text = trim(text[open+closed+len(end):])
	}
	if closed, tag := firstTag(text, "</think>", "</thinking>"); tag != "" && !strings.ContainsAny(text[:1], "{[\"`") {
		text = trim(text[closed+len(tag):])
	}
	return text
}

// firstTag finds the earliest of tags; tag is "" if none occurs.
func firstTag(text string, tags ...string) (at int, tag string) {
	for _, t := range tags {
		if i := strings.Index(text, t); i >= 0 && (tag == "" || i < at) {
			at, tag = i, t
		}
	}
	return at, tag
}

// decodeString decodes a text that is one JSON string, unless decoding would
// replace a lone surrogate.
func decodeString(text string) string {
	root, _, ok := tool.ParseJSON(text)
	if !ok || root.Kind != '"' {
		return text
	}
	const replacement = "\uFFFD"
	decoded := root.Text()
	if strings.Count(decoded, replacement) > strings.Count(text, replacement) {
		return text
	}
	return trim(decoded)
}

// openFence returns the content of the first Markdown code block that can hold
// JSON. A fence after the first bracket is not one: it may be part of a string.
func openFence(text string) string {
	const fence = "```"
	before, rest, found := strings.Cut(text, fence)
	if strings.ContainsAny(before, "{[") {
		return text
	}
	for ; found; _, rest, found = strings.Cut(rest, fence) {
		rest = strings.TrimLeftFunc(rest, isInfoString)
		end := fenceEnd(rest, fence)
		if end < 0 {
			return text
		}
		content := trim(rest[:end])
		if content != "" && strings.IndexByte(`{["`, content[0]) >= 0 {
			return content
		}
		rest = strings.TrimLeft(rest[end:], "` \t")
	}
	return text
}

// isInfoString reports what may follow an opening fence, as in ```json.
func isInfoString(r rune) bool {
	return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '_' || r == '`'
}

// fenceEnd finds the fence that closes body: the first at the start of a line,
// else the last one, unless a brace follows it. -1 is none.
func fenceEnd(body, fence string) int {
	for at := 0; ; {
		line := strings.IndexByte(body[at:], '\n')
		if line < 0 {
			break
		}
		at += line + 1
		if strings.HasPrefix(strings.TrimLeft(body[at:], " \t"), fence) {
			return at
		}
	}
	last := strings.LastIndex(body, fence)
	if last >= 0 && strings.IndexByte(body[last:], '}') >= 0 {
		return -1
	}
	return last
}

// onlyElement returns the object in a JSON array of one object.
func onlyElement(text string) string {
	if !strings.HasPrefix(text, "[") {
		return text
	}
	root, _, ok := tool.ParseJSON(text)
	if !ok || len(root.Elems) != 1 || root.Elems[0].Kind != '{' {
		return text
	}
	return root.Elems[0].Raw
}
