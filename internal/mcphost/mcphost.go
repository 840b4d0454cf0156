// Package mcphost undoes what the programs that run agents (hosts, in the words of MCP) do
// to the tools of a server before a model sees them: they put a prefix before the names,
// and envelopes around the results. It knows no host by name. What it reads was written by
// others: all of it is bounded, and nothing is executed.
package mcphost

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Name is the one of the known names that a host offers as offered: the same name, or else
// the longest known one that offered ends in behind a character that is neither a letter nor a
// digit, as mcp__world__get_counts ends in get_counts. Characters that are neither letters
// nor digits count as equal, because hosts replace them. ok is false if there is none.
func Name(offered string, known []string) (name string, ok bool) {
	if slices.Contains(known, offered) {
		return offered, true
	}
	text := plain(offered)
	for _, k := range known {
		at := len(text) - len(k)
		if len(k) > len(name) && strings.HasSuffix(text, plain(k)) && (at == 0 || text[at-1] == '_') {
			name = k
		}
	}
	return name, name != ""
}

// plain returns a name with _ for every character that is neither a letter nor a digit.
func plain(name string) string {
	out := []byte(name)
	for i, b := range out {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9':
		default:
			out[i] = '_'
		}
	}
	return string(out)
}

// maxEnvelopes bounds how many envelopes are taken off one result.
const maxEnvelopes = 8

// Result is the text of a tool's result without the envelopes that hosts put around it: a
// JSON string of JSON; MCP's list of text parts, or one such part; its whole result with
// content, structuredContent and isError; and, alone in a list, an object of nothing but a
// response that is one of these, or a whole result whose content is called response. Any other
// text stays as it is. failed reports that an envelope says that the tool failed.
func Result(text string) (value string, failed bool) {
	for range maxEnvelopes {
		inner, wrong, ok := open(text)
		if !ok {
			break
		}
		text, failed = inner, failed || wrong
	}
	return text, failed
}

// open takes off one envelope.
func open(text string) (inner string, failed, ok bool) {
	raw := bytes.TrimSpace([]byte(text))
	if len(raw) == 0 {
		return "", false, false
	}
	switch raw[0] {
	case '"':
		ok = json.Unmarshal(raw, &inner) == nil && strings.ContainsAny(first(inner), `{["`)
		return inner, false, ok
	case '[':
		if inner, ok = parts(raw); ok {
			return inner, false, true
		}
		var list []map[string]json.RawMessage
		if json.Unmarshal(raw, &list) != nil || len(list) != 1 || list[0]["response"] == nil {
			return "", false, false
		}
		inner = string(list[0]["response"])
		if len(list[0]) > 1 {
			list[0]["content"] = list[0]["response"]
			delete(list[0], "response")
			return members(list[0])
		}
		_, _, ok = open(inner)
		return inner, false, ok
	case '{':
		return whole(raw)
	}
	return "", false, false
}

// first returns the first character of a text that is not a space, empty if there is none.
func first(text string) string {
	text = strings.TrimSpace(text)
	return text[:min(1, len(text))]
}

// part is a part of MCP's content, in MCP's words or in those of a wire.
type part struct {
	Type string
	Text *string
}

func (p part) isText() bool {
	return p.Text != nil && (p.Type == "text" || p.Type == "input_text" || p.Type == "output_text")
}

// parts joins the texts of a list of nothing but text parts.
func parts(raw []byte) (text string, ok bool) {
	var list []part
	if json.Unmarshal(raw, &list) != nil {
		return "", false
	}
	for _, p := range list {
		if !p.isText() {
			return "", false
		}
		text += *p.Text
	}
	return text, len(list) > 0
}

// whole takes apart the result of a call as MCP has it, or one part. The texts go before the
// structured content, which has to be an object and may therefore wrap the value, unless
// they are not JSON.
func whole(raw []byte) (inner string, failed, ok bool) {
	var one part
	if json.Unmarshal(raw, &one) == nil && one.isText() {
		return *one.Text, false, true
	}
	var result map[string]json.RawMessage
	if json.Unmarshal(raw, &result) != nil {
		return "", false, false
	}
	return members(result)
}

// members takes apart the result of a call.
func members(result map[string]json.RawMessage) (inner string, failed, ok bool) {
	for name := range result {
		if !slices.Contains([]string{"content", "structuredContent", "isError", "_meta"}, name) {
			return "", false, false
		}
	}
	failed = string(result["isError"]) == "true"
	inner, ok = parts(result["content"])
	structured := result["structuredContent"]
	var wrapped struct{ Result *string }
	_ = json.Unmarshal(structured, &wrapped) // another object wraps no text
	same := wrapped.Result != nil && *wrapped.Result == inner
	if first(string(structured)) == "{" && !json.Valid([]byte(inner)) && !same {
		return string(structured), failed, true
	}
	return inner, failed, ok
}

// Arguments are the arguments of an earlier call as a model wrote them, without what hosts
// add when they show it again: the call's own id and name in any member, and members that
// the schema of the tool rules out. Arguments that are not an object stay as they are.
func Arguments(id, tool, args string, schema []byte) string {
	var rules struct {
		Properties           map[string]json.RawMessage
		AdditionalProperties any
	}
	_ = json.Unmarshal(schema, &rules) // none rules out nothing
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &members) != nil {
		return args
	}
	had := len(members)
	for member, value := range members {
		var text string
		_ = json.Unmarshal(value, &text) // another value is not an id
		_, itself := Name(text, []string{tool})
		if itself || id != "" && text == id || rules.AdditionalProperties == false && rules.Properties[member] == nil {
			delete(members, member)
		}
	}
	if len(members) < had {
		if left, err := json.Marshal(members); err == nil {
			return string(left)
		}
	}
	return args
}

// code matches the code of an error, and what is said behind it.
var code = regexp.MustCompile(`\b(E_[A-Z][A-Z0-9_]*)(?:: *([^\r\n]*))?`)

// complaint begins what hosts say of a tool that failed.
var complaint = regexp.MustCompile(`^\s*(?:(?i:an |there was an )?(?:Error|ERROR|error)\b)`)

// Error reads the error in a result without envelopes: an object with an error, alone or
// within the words of a host, an E_ code in a text that is not JSON or at the beginning of a
// JSON string, or a text that is not JSON and begins with the word error. ok is false if the result has neither. The code may be empty.
func Error(text string) (codeOf, message string, ok bool) {
	var quoted string
	if json.Unmarshal([]byte(text), &quoted) == nil {
		m := code.FindStringSubmatchIndex(quoted)
		if m == nil || m[0] > 0 { // a text that the tool returned
			return "", "", false
		}
		text = quoted
	}
	if json.Valid([]byte(text)) {
		return reported(text)
	}
	if at := strings.Index(text, `{"error":`); at >= 0 {
		var object json.RawMessage
		if json.NewDecoder(strings.NewReader(text[at:])).Decode(&object) == nil {
			if codeOf, message, ok = reported(string(object)); ok {
				return codeOf, message, true
			}
		}
	}
	if m := code.FindStringSubmatch(text); m != nil {
		return m[1], cmp.Or(m[2], text), true
	}
	return "", text, complaint.MatchString(text)
}

// reported reads the error of an object. A text is one only where nothing but more about the
// error is beside it: hosts report so what a tool said.
func reported(object string) (codeOf, message string, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &members) != nil || members["error"] == nil {
		return "", "", false
	}
	var e *struct{ Code, Message string }
	if json.Unmarshal(members["error"], &e) == nil {
		if e == nil {
			return "", "", false
		}
		return e.Code, e.Message, true
	}
	for name := range members {
		if !slices.Contains([]string{"error", "errorType", "name", "stack"}, name) {
			return "", "", false
		}
	}
	if json.Unmarshal(members["error"], &message) != nil {
		return "", "", false
	}
	inner, _ := Result(message)
	if c, m, ok := Error(inner); ok {
		return c, m, true
	}
	return "", message, true
}
