package guard

// MaxRetries is how often a failed tool call may be repeated before the
// repetition counts as thrash.
const MaxRetries = 2

// maxAnswers is how often one key may be executed or answered from cache in an
// episode; the call that reaches it is thrash.
const maxAnswers = 3

// maxKeys bounds how many keys are remembered; beyond it the one seen first is
// forgotten.
const maxKeys = 256

// Thrash detects an agent going in circles. It sees tool actions that were
// executed or answered from cache, in order; turns without one do not exist for
// it. The zero Thrash is ready.
type Thrash struct {
	// last are the latest actions, newest last.
	last [maxAnswers]action
	keys map[string]history
	// order are the keys in the order in which they were first seen.
	order []string
}

type action struct {
	key        string
	repeatable bool
}

// history is what happened to one key.
type history struct {
	answers, failures int
	// retry reports that the last call failed and may be repeated.
	retry bool
}

// Repeats reports whether calling key now would be thrash: the same key as the
// action before, the same key for the third time, or two actions alternating
// for the second time. Exempt are repeatable tools and the first MaxRetries
// repetitions of a call that failed.
func (t *Thrash) Repeats(key string, repeatable bool) bool {
	h := t.keys[key]
	if repeatable || h.retry {
		return false
	}
	return t.last[maxAnswers-1].key == key || t.Alternates(key) || h.answers+1 >= maxAnswers
}

// Alternates reports whether calling key now would make two actions alternate for the
// second time.
func (t *Thrash) Alternates(key string) bool {
	first, second, third := t.last[0], t.last[1], t.last[2]
	return first == third && second.key == key && third.key != key && !first.repeatable
}

// Record adds an action and whether it failed (outcome error or timeout). Keys
// are never empty.
func (t *Thrash) Record(key string, repeatable, failed bool) {
	if t.keys == nil {
		t.keys = map[string]history{}
	}
	h, seen := t.keys[key]
	if !seen {
		if t.order = append(t.order, key); len(t.order) > maxKeys {
			delete(t.keys, t.order[0])
			t.order = t.order[1:]
		}
	}
	h.retry = failed && h.failures < MaxRetries
	h.answers++
	if failed {
		h.failures++
	}
	t.keys[key] = h
	t.last = [maxAnswers]action{t.last[1], t.last[2], {key, repeatable}}
}

// RetryIndex is how many recorded calls of key failed, from 0.
func (t *Thrash) RetryIndex(key string) int { return t.keys[key].failures }
