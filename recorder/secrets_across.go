package recorder

import "strings"

// maxTail is how much of what was said before is joined with what is said next, in
// bytes: a longer credential is not found where it is split over two exchanges.
const maxTail = 1 << 10

// tails are the ends of what the responses so far said, by where it stands in them.
// A model that says one half of a credential in one turn and the other half in the
// next has said it.
type tails map[string]string

// findAcross looks for a credential that is split over several responses: a
// *SecretError if there is one.
func (s *Secrets) findAcross(o Options, t *tape) error {
	if len(t.interactions) < 2 {
		return nil
	}
	before := tails{}
	for i := range t.interactions {
		if kind := before.find(s, &t.interactions[i]); kind != "" {
			return &SecretError{o.Path, i, "response.body (with those before it)", kind}
		}
	}
	return nil
}

// find says whether a response completes a known credential, and remembers its ends.
func (t tails) find(s *Secrets, it *interaction) (kind string) {
	n := s.needles()
	if n.forms.head == 0 {
		return ""
	}
	body, _ := unpacked(it.Response.Headers, it.Response.Body)
	said(body, func(place, text string) {
		tail := t[place]
		if tail != "" && n.knownBeneath(tail+text[:min(len(text), maxTail)]) {
			kind = configured
		}
		tail += text[max(0, len(text)-maxTail):]
		t[place] = tail[max(0, len(tail)-maxTail):]
	})
	return kind
}

// said calls f with what a body says in each place, the strings of JSON within a
// string included: a contract turn is a JSON object in a message.
func said(body string, f func(place, text string)) {
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
		in := joiner{at: map[string]*spot{}}
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

// knownBeneath says whether a known credential is in s or beneath its escapes.
func (n *needles) knownBeneath(s string) (found bool) {
	views(s, func(s string, _ view) bool {
		found = n.known(s)
		return !found
	})
	return found
}
