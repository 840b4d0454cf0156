package orchestrator

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// shownIDs are the ids of things that an episode has shown. The zero shownIDs has seen none.
type shownIDs map[string]bool

// Add notes the ids in a text. An id is two or three lower-case letters, "_" and digits.
func (s shownIDs) add(text string) {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '_')
		if i < 0 {
			return
		}
		i += at
		at = i + 1
		from, to := i, i+1
		for from > 0 && i-from < 4 && 'a' <= text[from-1] && text[from-1] <= 'z' {
			from--
		}
		for to < len(text) && '0' <= text[to] && text[to] <= '9' {
			to++
		}
		if n := i - from; to > i+1 && (n == 2 || n == 3) && (from == 0 || !word(text[from-1])) && (to == len(text) || !word(text[to])) {
			s[text[from:to]] = true
		}
	}
}

func word(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

var wholeID = lazyregexp.New(`^[a-z]{2,3}_[0-9]+$`)

// Unseen reports that a value anywhere in the arguments is an id that nothing has shown.
func (s shownIDs) anyUnseen(args json.RawMessage) bool {
	if !strings.Contains(string(args), "_") {
		return false
	}
	var value any
	return json.Unmarshal(args, &value) == nil && s.unseen(value)
}

func (s shownIDs) unseen(value any) bool {
	switch v := value.(type) {
	case string:
		return wholeID.MatchString(v) && !s[v]
	case []any:
		return slices.ContainsFunc(v, s.unseen)
	case map[string]any:
		for _, member := range v { // the answer does not depend on the order
			if s.unseen(member) {
				return true
			}
		}
	}
	return false
}

// claims are verbs of a change of state with the beginnings of the tools that make it.
var claims = map[string][]string{
	"published": {"publish-"}, "unpublished": {"unpublish-", "delete-workflow"}, "archived": {"delete-workflow"}, "deleted": {"delete-"},
	"restored": {"restore-", "unarchive-"}, "created": {"create-", submitTool, submitFile, "setup-credentials"}, "built": {submitTool, submitFile},
	"inserted": {"insert-"}, "updated": {"update-", submitTool, submitFile}, "renamed": {"rename-", "update-", submitTool}, "stopped": {"stop-", "cancel-"},
	"tagged": {"tag-"}, "moved": {"move-"},
}

// subjects are ids and quoted names.
var subjects = lazyregexp.New("\\b[a-z]{2,3}_[0-9]+\\b|\"([^\"\n]{1,128})\"|`([^`\n]{1,128})`")

var (
	sentences = lazyregexp.New(`[.!?](?:\s|$)|\n`)
	words     = lazyregexp.New(`[a-z']+`)
	denials   = []string{"not", "no", "nothing", "never", "cannot", "couldn't", "wasn't", "weren't", "isn't", "declined", "denied", "failed", "if", "will", "would", "may", "should", "already"}
)

// doneCall is a call that succeeded: its tool, and its arguments and result.
type doneCall struct{ Tool, Text string }

// claimed reports that a text says of an id or a quoted name that it was changed, and that no
// call that succeeded has done so. It goes by a table of verbs, so it is a hint only.
func claimed(text string, done []doneCall) bool {
	for _, sentence := range sentences.Split(text, -1) {
		all := words.FindAllString(strings.ToLower(subjects.ReplaceAllString(sentence, "")), -1)
		if slices.ContainsFunc(all, func(w string) bool { return slices.Contains(denials, w) }) {
			continue
		}
		for _, verb := range all {
			for _, found := range subjects.FindAllStringSubmatch(sentence, -1) {
				subject := found[0]
				if name := found[1] + found[2]; name != "" {
					subject = name
				}
				if tools := claims[verb]; tools != nil && !slices.ContainsFunc(done, func(d doneCall) bool { return d.did(tools, subject) }) {
					return true
				}
			}
		}
	}
	return false
}

func (d doneCall) did(tools []string, subject string) bool {
	return strings.Contains(d.Text, subject) && slices.ContainsFunc(tools, func(t string) bool { return strings.HasPrefix(d.Tool, t) })
}
