package external

import (
	"slices"

	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// Volatile returns the rules under which two recordings of one episode of an external agent
// have the same requests, as far as the replies to the earlier ones are equal. There are none if
// the requests are equal, or differ in anything that gateway.Propose takes for a difference.
func Volatile(first, second *cassette.Data, rules gateway.Rules) (out gateway.Proposed) {
	a, b := exchanged(first), exchanged(second)
	for i := range min(len(a), len(b)) {
		was, errA := gateway.Request{Body: []byte(a[i].Request.Body)}.Compared(rules)
		is, errB := gateway.Request{Body: []byte(b[i].Request.Body)}.Compared(rules)
		if errA != nil || errB != nil || a[i].Request.URL != b[i].Request.URL {
			return gateway.Proposed{}
		}
		if !out.Equal(was.Body, is.Body) {
			more := gateway.Propose(was.Body, is.Body)
			if len(more.Ignore)+len(more.Replace) == 0 {
				return gateway.Proposed{}
			}
			out.Ignore, out.Replace = union(out.Ignore, more.Ignore), union(out.Replace, more.Replace)
		}
		if a[i].Response.Body != b[i].Response.Body { // so that what follows may differ
			break
		}
	}
	return out
}

// exchanged are the model requests of a recording, without lists of models and counts of
// tokens; none if it is not of an external agent.
func exchanged(data *cassette.Data) (out []*cassette.Interaction) {
	if len(data.Interactions) == 0 {
		return nil
	}
	r, err := decode(&data.Interactions[len(data.Interactions)-1])
	if err != nil {
		return nil
	}
	byDigest := map[string][]*cassette.Interaction{}
	for i := range data.Interactions {
		it := &data.Interactions[i]
		byDigest[it.Digest] = append(byDigest[it.Digest], it)
	}
	for _, c := range r.Calls {
		if c.Model == nil || c.Model.free() || len(byDigest[c.Model.Digest]) == 0 {
			continue
		}
		list := byDigest[c.Model.Digest]
		out, byDigest[c.Model.Digest] = append(out, list[0]), list[1:]
	}
	return out
}

// union is a list with what another one has besides.
func union(list, more []string) []string {
	for _, text := range more {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}
