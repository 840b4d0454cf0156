package cassette

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Seal encodes data as a sealed file. It checks that the file has no credential (otherwise
// a *SecretError) and reads back unchanged. It uses Path and Secrets of f.
func Seal(f File, t *Data) ([]byte, error) {
	if err := Scan(f, t); err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("cassette %s not written: %w", f.Path, err)
	}
	data := Encode(t)
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("cassette %s not written: larger than %d bytes", f.Path, MaxBytes)
	}
	back, err := Decode(data, false)
	if err != nil {
		return nil, fmt.Errorf("cassette %s not written: it would not read back: %w", f.Path, err)
	}
	for i := range t.Interactions {
		a, b := t.Interactions[i], back.Interactions[i]
		if a.Raw() != b.Raw() || a.Response.Body != b.Response.Body || !reflect.DeepEqual(a.Reads, b.Reads) {
			return nil, fmt.Errorf("cassette %s not written: interaction %d would not read back unchanged", f.Path, i)
		}
	}
	return data, nil
}

// Scan searches everything that would be written of t for credentials, with the Secrets of
// f. It returns a *SecretError for the first.
func Scan(f File, t *Data) error {
	d := f.Secrets
	h := t.Header
	for _, text := range h.texts() {
		if kind := d.Find(*text.value); kind != "" {
			return &SecretError{f.Path, -1, text.name, kind}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Digests)) {
		if kind := d.Find(name + "\n" + h.Digests[name]); kind != "" {
			return &SecretError{f.Path, -1, "digests", kind}
		}
	}
	for i := range t.Interactions {
		if field, kind := findIn(d, &t.Interactions[i]); kind != "" {
			return &SecretError{f.Path, i, field, kind}
		}
	}
	return findAcross(f, t)
}

// findIn returns the field of an interaction that contains a credential, and its kind.
func findIn(s *secrets.Finder, it *Interaction) (field, kind string) {
	for _, f := range []struct{ name, text string }{
		{"request.url", it.Request.URL}, {"request.method", it.Request.Method},
		{"response.status", it.Response.Status}, {"failed", it.Failure}, {"role", it.Role},
	} {
		if kind := s.Find(f.text); kind != "" {
			return f.name, kind
		}
	}
	for _, side := range []struct {
		name, body string
		headers    http.Header
	}{{"request", it.Request.Body, it.Request.Headers}, {"response", it.Response.Body, it.Response.Headers}} {
		if field, kind := s.FindInMessage(side.headers, side.body); kind != "" {
			return side.name + field, kind
		}
	}
	return "", ""
}

// findAcross searches for a credential that is split over several responses; it returns a
// *SecretError if there is one.
func findAcross(f File, t *Data) error {
	if len(t.Interactions) < 2 {
		return nil
	}
	before := secrets.Conversation{}
	for i := range t.Interactions {
		reply := t.Interactions[i].Response
		if kind := before.Find(f.Secrets, reply.Headers, reply.Body); kind != "" {
			return &SecretError{f.Path, i, "response.body (with those before it)", kind}
		}
	}
	return nil
}
