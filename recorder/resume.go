package recorder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"reflect"
	"slices"

	"github.com/cupel-eval/cupel/recorder/cassette"
)

// ErrNotJournaled is the error of a request under OnlyJournaled without an exchange in the
// journal. The request was not sent.
var ErrNotJournaled = errors.New("the journal has no exchange of this request")

type onlyJournaledKey struct{}

// OnlyJournaled returns a context whose requests are answered from the continued journal and
// never sent: see Resumes. f receives the headers of the recorded request before RoundTrip
// returns the response.
func OnlyJournaled(ctx context.Context, f func(http.Header)) context.Context {
	return context.WithValue(ctx, onlyJournaledKey{}, f)
}

// onlyJournaled returns the function that OnlyJournaled put into ctx, or nil.
func onlyJournaled(ctx context.Context) func(http.Header) {
	f, _ := ctx.Value(onlyJournaledKey{}).(func(http.Header))
	return f
}

// leftover holds the exchanges of a continued journal that no request has used yet.
type leftover struct {
	byDigest map[string][]journalRecord // ordered by number
	numbers  map[int64]int              // exchanges left, by number
}

func newLeftover(records []journalRecord) leftover {
	l := leftover{map[string][]journalRecord{}, map[int64]int{}}
	for _, rec := range records {
		l.byDigest[rec.digest()] = append(l.byDigest[rec.digest()], rec)
		l.numbers[rec.number]++
	}
	return l
}

// use removes and returns the exchange of an equal request: the one with the same number, or
// else the first. It returns false if there is none. The number may differ, because requests
// that were in flight in parallel may be repeated in another order.
func (l leftover) use(number int64, digest string) (rec journalRecord, ok bool) {
	list := l.byDigest[digest]
	if len(list) == 0 {
		return rec, false
	}
	i := max(0, slices.IndexFunc(list, func(rec journalRecord) bool { return rec.number == number }))
	rec = list[i]
	l.byDigest[digest] = slices.Delete(list, i, i+1)
	if l.numbers[rec.number]--; l.numbers[rec.number] == 0 {
		delete(l.numbers, rec.number)
	}
	return rec, true
}

// Resumes reports whether the continued journal has exchanges left, which answer equal
// requests.
func (r *Recorder) Resumes() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.left.numbers) > 0
}

// Journaled reports whether the continued journal has an exchange left for the place of the
// context's next request. That request is then not sent, unless it differs from the journal's.
func (r *Recorder) Journaled(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left.numbers[r.next(placeOf(ctx))] > 0
}

// Retract marks the exchanges of a place (see Ordered) in the journal, so that a resumed
// recording makes them again. They stay in the journal for Recover.
func (r *Recorder) Retract(place int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.recordings {
		if t.place != place || !t.done || t.err != nil {
			continue
		}
		r.journal.retract(r.o, t.number, t.it.Digest)
		for _, rec := range r.left.byDigest[t.it.Digest] { // of attempts that this process did not repeat
			if rec.place() == int64(place) {
				r.journal.retract(r.o, rec.number, t.it.Digest)
			}
		}
	}
}

// resume reads the journal to continue and returns its exchanges. It returns none from a
// journal of another run or header, which the first write renames.
func (j *journal) resume(o Options) (none leftover, err error) {
	data, err := readJournalFile(o.store(), journalName(o))
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("resume cassette %s: %w", o.Path, err)
	}
	c := readJournal(data)
	for _, rec := range c.records {
		if rec.run != o.Run || rec.one != nil && !reflect.DeepEqual(rec.one.Header, o.Header) {
			return none, nil
		}
	}
	j.resumed, j.end = len(c.records) > 0, c.end
	return newLeftover(c.exchanges(true)), nil
}

// maxJournal bounds the journal that is read, in bytes.
const maxJournal = 2 * cassette.MaxBytes

// readJournalFile reads a journal of at most maxJournal bytes.
func readJournalFile(s Store, name string) ([]byte, error) {
	switch size, err := s.Size(name); {
	case err != nil:
		return nil, err
	case size > maxJournal:
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxJournal)
	}
	return s.ReadFile(name, maxJournal)
}

// Unfinished reports whether a recording of the cassette left a journal. It uses only Dir,
// Store and Path of o.
func Unfinished(o Options) bool {
	_, err := o.store().Size(journalName(o))
	return err == nil
}

// Discard removes the journal that a recording with KeepJournal left, and a renamed one. It
// keeps the journal of a run other than o.Run. It uses only Dir, Store, Path and Run of o.
func Discard(o Options) error {
	if !Unfinished(o) {
		return nil
	}
	head, err := o.store().ReadFile(journalName(o), maxHead)
	if err == nil && runOf(head) == o.Run {
		err = removeJournal(o)
	}
	if err != nil {
		return fmt.Errorf("cassette %s is saved, but its journal stays: %w", o.Path, err)
	}
	return nil
}
