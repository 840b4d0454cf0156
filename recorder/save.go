package recorder

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/cupel-eval/cupel/internal/atomicfile"
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
	if len(r.takes) == 0 {
		return nil
	}
	if kind := r.o.Secrets.Find(r.o.Path); kind != "" {
		return r.refused(&SecretError{Hidden, -1, "path", kind})
	}
	t := &tape{header: r.o.Header, interactions: make([]interaction, len(r.takes))}
	for i, k := range r.ordered() {
		if err := r.finished(i, k); err != nil {
			return r.refused(err)
		}
		t.interactions[i] = k.it
	}
	data, err := press(r.o, t)
	if err != nil {
		return r.refused(err)
	}
	if err := writeFile(filepath.Join(r.o.Dir, filepath.FromSlash(r.o.Path)), data); err != nil {
		return fmt.Errorf("save cassette %s: %w", r.o.Path, errors.Join(err, r.journal.failure()))
	}
	_, r.digest, _ = unseal(data)
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
	var secret *SecretError
	if errors.As(err, &secret) && errors.Join(r.journal.filter(r.o, r.takes), purge(r.o)) != nil {
		return fmt.Errorf("%w; delete its journal %s, which cannot be rewritten", err, r.o.Secrets.Redact("path", journalFile(r.o)))
	}
	return err
}

// finished says why the i-th take of the cassette cannot be saved. A cause that
// quotes a credential is left out.
func (r *Recorder) finished(i int, k *take) error {
	what := fmt.Sprintf("save cassette %s: interaction %d (%s %s)", r.o.Path, i, k.it.Request.Method, k.it.Request.URL)
	d := r.o.Secrets
	if kind := d.Find(what); kind != "" {
		return &SecretError{r.o.Path, i, "request.url", kind}
	}
	switch {
	case !k.done:
		return errors.New(what + " is not finished: its body was neither read to the end nor closed")
	case k.err != nil && d.Find(k.err.Error()) != "":
		return errors.New(what + " failed; the cassette on disk stays (the cause is withheld: it holds a credential)")
	case k.err != nil:
		return fmt.Errorf("%s failed; the cassette on disk stays: %w", what, k.err)
	}
	return nil
}

// press turns a tape into a sealed file, and makes sure that it holds no
// credential and reads back as it was.
func press(o Options, t *tape) ([]byte, error) {
	if err := scan(o, t); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("cassette %s not written: %w", o.Path, err)
	}
	data := encode(t)
	if len(data) > maxBytes {
		return nil, fmt.Errorf("cassette %s not written: larger than %d bytes", o.Path, maxBytes)
	}
	back, err := readYAML(data[:len(data)-sealSize], true)
	if err != nil {
		return nil, fmt.Errorf("cassette %s not written: it would not read back: %w", o.Path, err)
	}
	for i := range t.interactions {
		a, b := t.interactions[i], back.interactions[i]
		if a.raw() != b.raw() || a.Response.Body != b.Response.Body || !reflect.DeepEqual(a.frames, b.frames) {
			return nil, fmt.Errorf("cassette %s not written: interaction %d would not read back unchanged", o.Path, i)
		}
	}
	return data, nil
}

// scan looks for credentials in all that would be written.
func scan(o Options, t *tape) error {
	d := o.Secrets
	h := t.header
	for _, f := range h.texts() {
		if kind := d.Find(*f.value); kind != "" {
			return &SecretError{o.Path, -1, f.name, kind}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Digests)) {
		if kind := d.Find(name + "\n" + h.Digests[name]); kind != "" {
			return &SecretError{o.Path, -1, "digests", kind}
		}
	}
	for i := range t.interactions {
		if field, kind := d.findIn(&t.interactions[i]); kind != "" {
			return &SecretError{o.Path, i, field, kind}
		}
	}
	return d.findAcross(o, t)
}

// writeFile replaces a file, and makes its folder.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, data)
}
