package secrets

import (
	"net/http"
	"strings"
)

// maxTail is the number of bytes of an earlier response that are joined with the next one. A
// longer credential is not found if it is split over two exchanges.
const maxTail = 1 << 10

// Conversation has the ends of the texts of earlier responses, by the path of the text in a
// response. They are needed because a model may output one half of a credential in one turn and
// the other half in the next.
type Conversation map[string]string

// Find returns the kind of a known credential that a response completes, "" if it completes
// none, and stores the ends of its texts.
func (t Conversation) Find(s *Finder, h http.Header, body string) (kind string) {
	n := s.current()
	if n.forms.head == 0 {
		return ""
	}
	body, _ = unpacked(h, body)
	outputTexts(body, func(place, text string) {
		tail := t[place]
		if tail != "" && n.containsEscaped(tail+text[:min(len(text), maxTail)]) {
			kind = configured
		}
		tail += text[max(0, len(text)-maxTail):]
		t[place] = tail[max(0, len(tail)-maxTail):]
	})
	return kind
}

// outputTexts calls f with the text at each path of a body. It includes the strings of JSON
// within a string, because a contract turn is a JSON object in a message.
func outputTexts(body string, f func(place, text string)) {
	j, loose := joined(body)
	if len(j.order) == 0 && loose == "" {
		loose = body // there are no events
	}
	if loose != "" {
		f("", loose)
	}
	for _, p := range j.order {
		if p.parent != nil {
			continue
		}
		f(p.key, string(p.text))
		in := streamJoiner{at: map[string]*fieldText{}}
		if _, ok := in.event(strings.TrimSpace(string(p.text))); !ok {
			continue
		}
		for _, q := range in.order {
			if q.parent == nil {
				f(p.key+"\x00"+q.key, string(q.text))
			}
		}
	}
}

// containsEscaped reports whether s contains a known credential, also within escapes.
func (n *knownSecrets) containsEscaped(s string) (found bool) {
	views(s, func(s string, _ view) bool {
		found = n.known(s)
		return !found
	})
	return found
}
