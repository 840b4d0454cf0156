package recorder

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/internal/canonical"
	"github.com/cupel-eval/cupel/recorder/internal/checksum"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Save replaces the cassette atomically with the recorded exchanges, ordered by place (see
// Ordered) and then by start, and removes the journal. It does nothing in other modes than
// Record, or if nothing was recorded. A transport failure is recorded like a response, unless
// the caller had cancelled the request.
//
// Save keeps the old cassette and the journal if an exchange is not finished, if the cassette
// would contain a credential (*SecretError), or if writing fails.
func (r *Recorder) Save() error {
	if r.origin != nil {
		return r.origin.Save()
	}
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
	if err := r.o.store().WriteFile(r.o.Path, data); err != nil {
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

// Note adds an exchange that is not sent, the last on the cassette: a text for an address that
// no provider has. The journal does not have it, because who resumes the recording makes it again.
func (r *Recorder) Note(address, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const place = 1 << 20 // beyond those of all requests, see Ordered
	t := &recording{index: len(r.recordings), place: place, number: number(place, 0), done: true}
	t.it.Request.Method, t.it.Request.URL, t.it.Request.Body, t.it.Request.Headers = http.MethodPost, address, text, http.Header{}
	t.it.Response.Status, t.it.Response.Code, t.it.Response.Headers = "200 OK", http.StatusOK, http.Header{}
	t.it.Digest = canonical.Digest(http.MethodPost, address, text)
	r.recordings = append(r.recordings, t)
}

// refused returns the reason why a recording is not saved. If the reason is a credential, it
// also removes that exchange from the journal.
func (r *Recorder) refused(err error) error {
	var secret *cassette.SecretError
	if errors.As(err, &secret) && errors.Join(r.journal.filter(r.o, r.recordings), purge(r.o)) != nil {
		return fmt.Errorf("%w; delete its journal %s, which cannot be rewritten", err, r.o.Secrets.Redact("path", filepath.Join(r.o.Dir, filepath.FromSlash(journalName(r.o)))))
	}
	return err
}

// finished returns the reason why the i-th recording of the cassette cannot be saved, nil if it
// can. It omits a cause that contains a credential.
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
		return errors.New(what + " failed; the cassette on disk stays (the cause is redacted because it contains a credential)")
	case k.err != nil:
		return fmt.Errorf("%s failed; the cassette on disk stays: %w", what, k.err)
	}
	return nil
}
