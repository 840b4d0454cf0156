package secrets

import (
	"net/http"
	"strings"
)

// maxTail is how much of what was said before is joined with what is said next, in
// bytes: a longer credential is not found where it is split over two exchanges.
const maxTail = 1 << 10

// Conversation are the ends of what the responses so far said, by where it stands in them.
// A model that says one half of a credential in one turn and the other half in the
// next has said it.
type Conversation map[string]string

// Find reports whether a response completes a known credential, and remembers its ends.
func (t Conversation) Find(s *Finder, h http.Header, body string) (kind string) {
	n := s.current()
	if n.forms.head == 0 {
		return ""
	}
	body, _ = unpacked(h, body)
	spokenTexts(body, func(place, text string) {
		tail := t[place]
		if tail != "" && n.knownBeneath(tail+text[:min(len(text), maxTail)]) {
			kind = configured
		}
		tail += text[max(0, len(text)-maxTail):]
		t[place] = tail[max(0, len(tail)-maxTail):]
	})
	return kind
}

// spokenTexts calls f with what a body says in each place, the strings of JSON within a
// string included: a contract turn is a JSON object in a message.
func spokenTexts(body string, f func(place, text string)) {
	j, loose := joined(body)
	if len(j.order) == 0 && loose == "" {
		loose = body // no events at all
	}
	if loose != "" {
		f("", loose)
	}
	for _, p := range j.order {
		if p.among != nil {
			continue
		}
		f(p.key, string(p.text))
		in := streamJoiner{at: map[string]*fieldText{}}
		if _, ok := in.event(strings.TrimSpace(string(p.text))); !ok {
			continue
		}
		for _, q := range in.order {
			if q.among == nil {
				f(p.key+"\x00"+q.key, string(q.text))
			}
		}
	}
}

// knownBeneath reports whether a known credential is in s or beneath its escapes.
func (n *knownSecrets) knownBeneath(s string) (found bool) {
	views(s, func(s string, _ view) bool {
		found = n.known(s)
		return !found
	})
	return found
}
