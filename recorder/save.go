package recorder

import (
	"errors"
	"fmt"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/internal/checksum"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Save seals what was recorded, ordered by place (see Ordered) and then as the
// requests were begun, replaces the cassette atomically and removes the journal; nothing in other
// modes, and nothing when nothing was recorded. A transport's failure is
// recorded like an answer, unless the caller had given up. The old cassette and
// the journal stay as they are when an exchange is not finished, when a
// credential would be on the new cassette (*SecretError), or when it cannot be
// written.
func (r *Recorder) Save() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.recordings) == 0 {
		return nil
	}
	if kind := r.o.Secrets.Find(r.o.Path); kind != "" {
		return r.refused(&cassette.SecretError{Path: secrets.Hidden, Interaction: -1, Field: "path", Kind: kind})
	}
	t := &cassette.Data{Header: r.o.Header, Interactions: make([]cassette.Interaction, len(r.recordings))}
	for i, k := range r.ordered() {
		if err := r.finished(i, k); err != nil {
			return r.refused(err)
		}
		t.Interactions[i] = k.it
	}
	data, err := cassette.Seal(r.o.file(), t)
	if err != nil {
		return r.refused(err)
	}
	if err := r.o.file().Write(data); err != nil {
		return fmt.Errorf("save cassette %s: %w", r.o.Path, errors.Join(err, r.journal.failure()))
	}
	_, r.digest, _ = checksum.Check(data)
	if r.o.KeepJournal {
		return nil
	}
	if err := r.journal.discard(r.o); err != nil {
		return fmt.Errorf("cassette %s is saved, but its journal stays: %w", r.o.Path, err)
	}
	return nil
}

// refused returns why a recording is not saved. What a credential bars from the
// cassette may not stay in the journal either.
func (r *Recorder) refused(err error) error {
	var secret *cassette.SecretError
	if errors.As(err, &secret) && errors.Join(r.journal.filter(r.o, r.recordings), purge(r.o)) != nil {
		return fmt.Errorf("%w; delete its journal %s, which cannot be rewritten", err, r.o.Secrets.Redact("path", journalFile(r.o)))
	}
	return err
}

// finished says why the i-th recording of the cassette cannot be saved. A cause that
// quotes a credential is left out.
func (r *Recorder) finished(i int, k *recording) error {
	what := fmt.Sprintf("save cassette %s: interaction %d (%s %s)", r.o.Path, i, k.it.Request.Method, k.it.Request.URL)
	d := r.o.Secrets
	if kind := d.Find(what); kind != "" {
		return &cassette.SecretError{Path: r.o.Path, Interaction: i, Field: "request.url", Kind: kind}
	}
	switch {
	case !k.done:
		return errors.New(what + " is not finished: its body was neither read to the end nor closed")
	case k.err != nil && d.Find(k.err.Error()) != "":
		return errors.New(what + " failed; the cassette on disk stays (the cause is redacted: it holds a credential)")
	case k.err != nil:
		return fmt.Errorf("%s failed; the cassette on disk stays: %w", what, k.err)
	}
	return nil
}
