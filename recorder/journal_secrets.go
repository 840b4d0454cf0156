package recorder

import (
	"errors"
	"io/fs"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// leaks reports whether a journal contains a credential that is now known.
func leaks(o Options, name string) (bool, error) {
	got, err := RecoverIn(o.store(), name)
	var secret *cassette.SecretError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.As(err, &secret) || o.Secrets.Find(o.Path) != "":
		return true, nil
	case err != nil:
		return false, err
	}
	if got.Exchanges > 0 {
		t, err := cassette.Decode(got.Cassette, false)
		if err != nil || cassette.Scan(o.file(), t) != nil {
			return true, nil
		}
	}
	text, err := o.store().ReadFile(name, maxJournal) // including torn parts
	return o.Secrets.Find(string(text)) != "", err
}

// purge removes the journals of an earlier recording if they contain a credential that is
// now known.
func purge(o Options) error {
	var failed error
	for _, name := range []string{journalName(o), journalName(o) + oldSuffix} {
		bad, err := leaks(o, name)
		if bad {
			err = o.store().Remove(name)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// recheck searches the journal again if a credential became known since the last search,
// because a kill would leave the file unchanged.
func (r *Recorder) recheck() {
	known := r.o.Secrets.Known()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.checked == known {
		return
	}
	r.checked = known
	if bad, err := leaks(r.o, journalName(r.o)); bad || err != nil {
		_ = r.journal.filter(r.o, r.recordings) // Save reports its error
	}
	if bad, err := leaks(r.o, journalName(r.o)+oldSuffix); bad || err != nil {
		_ = r.o.store().Remove(journalName(r.o) + oldSuffix)
	}
}

// containsSplit reports whether the journal with one more exchange contains a credential that
// is split over several exchanges, or did before. It then removes the journal. The caller must
// have locked.
func (j *journal) containsSplit(o Options, it *cassette.Interaction) bool {
	if j.conversation == nil {
		j.conversation = secrets.Conversation{}
	}
	if j.conversation.Find(o.Secrets, it.Response.Headers, it.Response.Body) == "" && !j.split {
		return false
	}
	j.split, j.begun, j.resumed = true, false, false
	if err := o.store().Remove(journalName(o)); err != nil && !errors.Is(err, fs.ErrNotExist) && j.err == nil {
		j.err = err
	}
	return true
}
