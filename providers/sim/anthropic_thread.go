package sim

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// threadsBeta is the beta header that a request with a thread needs.
const threadsBeta = "message-threads-2026-08-12"

// thread is a conversation that the server holds, up to one reply.
type thread struct {
	fixed    map[string]json.RawMessage // what a later turn must not change
	messages []json.RawMessage
	left     int // how often it may be continued: once for each time it was issued
}

// threadFixed are the fields that a thread keeps. A later turn must leave out the first
// two and repeat the third.
var threadFixed = []string{"system", "tools", "output_config"}

// threadParam is the field thread of a request.
type threadParam struct {
	Type              string `json:"type"`
	PreviousMessageID string `json:"previous_message_id"`
}

// threadOf reads the field thread; nil if the request has none.
func threadOf(body []byte) (members map[string]json.RawMessage, t *threadParam) {
	if json.Unmarshal(body, &members) == nil && given(members["thread"]) {
		refuseIf(json.Unmarshal(members["thread"], &t) != nil, "thread", "thread: Input should be an object")
	}
	return members, t
}

// recallThread puts the messages, the system prompt and the tools of the thread that
// a request continues into the request.
func recallThread(s *service, r *http.Request, body []byte) []byte {
	members, t := threadOf(body)
	switch {
	case t == nil:
		return body
	case !slices.ContainsFunc(r.Header.Values("Anthropic-Beta"), func(v string) bool { return strings.Contains(v, threadsBeta) }):
		refuse("thread", "thread: Extra inputs are not permitted")
	case t.Type == "create":
		return body
	case t.Type != "continue":
		refuse("thread", "thread: Input tag '%s' found using 'type' does not match any of the expected tags: 'create', 'continue'", clip.Runes(t.Type, 40))
	case t.PreviousMessageID == "":
		refuse("thread", "thread.continue.previous_message_id: Field required")
	}
	s.mu.Lock()
	before, ok := s.threads.get(t.PreviousMessageID)
	s.mu.Unlock()
	reject(!ok, http.StatusNotFound, "thread_not_found", "", "No thread state was found for previous_message_id %s. Send the full conversation with thread: {\"type\": \"create\"}.", clip.Runes(t.PreviousMessageID, 80))
	before.refuseSpent(t.PreviousMessageID)
	var fresh []json.RawMessage
	refuseIf(json.Unmarshal(members["messages"], &fresh) != nil || len(fresh) == 0, "messages", "messages: at least one message is required")
	differing := before.differing(members)
	reject(len(differing) > 0, http.StatusBadRequest, "thread_fingerprint_mismatch", "", "The request does not match the thread, differing field(s): %s. Send the stored values, or the full conversation with thread: {\"type\": \"create\"}.", strings.Join(differing, ", "))
	maps.Copy(members, before.fixed)
	members["messages"] = encodeJSON(slices.Concat(before.messages, fresh))
	whole := encodeJSON(members)
	if len(whole) > maxBody {
		panic(tooLarge())
	}
	return whole
}

// differing names the fields of a turn that do not fit the thread.
func (t thread) differing(members map[string]json.RawMessage) []string {
	var names []string
	for _, name := range threadFixed {
		fits := !given(members[name])
		if name == "output_config" {
			fits = sameJSON(members[name], t.fixed[name])
		}
		if !fits {
			names = append(names, name)
		}
	}
	return names
}

// sameJSON reports whether two values are equal. White space and the order of members do
// not count; a missing value is null.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	_, _ = json.Unmarshal(a, &x), json.Unmarshal(b, &y) // nothing is null
	return reflect.DeepEqual(x, y)
}

// refuseSpent refuses to continue a thread once more than it was issued.
func (t thread) refuseSpent(id string) {
	reject(t.left == 0, http.StatusBadRequest, "thread_already_continued", "", "The response %s has already been continued. Continue from the most recent response of the thread.", clip.Runes(id, 80))
}

// keepThread remembers the conversation of a request with a thread under the id of the
// reply. A refusal is not remembered.
func keepThread(s *service, body []byte, _ modelRequest, c completion) {
	members, t := threadOf(body) // has been read
	if t == nil {
		return
	}
	var messages []json.RawMessage
	_ = json.Unmarshal(members["messages"], &messages) // has been parsed
	if blocks := slices.DeleteFunc(c.content(), func(b obj) bool { return b["text"] == "" }); len(blocks) > 0 {
		messages = append(messages, encodeJSON(obj{"role": "assistant", "content": blocks}))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Type == "continue" {
		before, _ := s.threads.get(t.PreviousMessageID)
		before.refuseSpent(t.PreviousMessageID) // another request was faster
		if before.left--; before.left == 0 {
			before.messages, before.fixed = nil, nil
		}
		s.threads.put(t.PreviousMessageID, before, before.bytes())
	}
	if c.refusal != "" {
		return
	}
	id := c.draws.id("msg_sim")
	again, _ := s.threads.get(id)
	kept := thread{fixed: map[string]json.RawMessage{}, messages: messages, left: again.left + 1}
	for _, name := range threadFixed {
		if given(members[name]) {
			kept.fixed[name] = members[name]
		}
	}
	s.threads.put(id, kept, kept.bytes())
}

// bytes is the size of what a thread keeps.
func (t thread) bytes() int { return 100 + len(encodeJSON(t.messages)) + len(encodeJSON(t.fixed)) }
