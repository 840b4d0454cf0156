package cassette

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Contents is a cassette read without replaying it. All of it is untrusted.
type Contents struct {
	Path   string
	Header Header
	// Digest is the SHA-256 hex of the file, Bytes its size.
	Digest string
	Bytes  int
	// Interactions is the number of exchanges.
	Interactions int

	data *Data
}

// Inspect reads and checks a cassette. It uses FS, Dir, Path, Command and
// AllowUnsealed of f, and fails with a *MissingError or *CorruptError.
func Inspect(f File) (*Contents, error) {
	data, err := loadFile(f)
	if err != nil {
		return nil, err
	}
	t, err := decodeFile(f, data)
	if err != nil {
		return nil, err
	}
	return &Contents{f.Path, t.Header, t.Digest, len(data), len(t.Interactions), t}, nil
}

// Recorded is a recorded exchange. All of it is untrusted.
type Recorded struct {
	Method, URL, Request string
	// Status is 0 if the transport failed before a reply.
	Status int
	Header http.Header
	Body   string
	// Failure is the transport's error; empty if it did not fail.
	Failure string
	// Role says who made the request; empty if it was the candidate.
	Role string
}

// Recorded returns the i-th exchange, from 0. Its header must not be changed.
func (c *Contents) Recorded(i int) Recorded {
	it := &c.data.Interactions[i]
	return Recorded{it.Request.Method, it.Request.URL, it.Request.Body, it.Response.Code, it.Response.Headers, it.Response.Body, it.Failure, it.Role}
}

// Difference is a differing part of two cassettes.
type Difference struct {
	// Where is "header", or for example "interaction 3 request".
	Where string
	// Lines are like those of a MissError.
	Lines []string
}

// Diff lists the fields in which other differs from c: headers first, then the exchanges in
// recorded order. It omits digests, HTTP headers and times; there is at most one Difference
// for the header and two per exchange.
func (c *Contents) Diff(other *Contents) []Difference {
	var all []Difference
	note := func(where string, lines []string) {
		if len(lines) > 0 {
			all = append(all, Difference{where, lines})
		}
	}
	note("header", diffHeaders(c.Header, other.Header))
	a, b := c.data.Interactions, other.data.Interactions
	for i := range max(len(a), len(b)) {
		where := fmt.Sprintf("interaction %d", i)
		switch {
		case i >= len(a):
			note(where, []string{"added " + b[i].outline()})
		case i >= len(b):
			note(where, []string{"removed; it was " + a[i].outline()})
		default:
			note(where+" request", diffRequests(a[i].Raw(), b[i].Raw()))
			note(where+" reply", diffReplies(&a[i], &b[i]))
		}
	}
	return all
}

// outline describes an exchange in one line.
func (it *Interaction) outline() string {
	d := &differ{}
	d.text("it", "", it.Request.Method+" "+it.Request.URL) // bounded, and without credentials
	return fmt.Sprintf("%s: %d bytes, status %d", d.lines[0][len(`it: "" → `):], len(it.Request.Body), it.Response.Code)
}

// diffHeaders compares the headers of two cassettes. For digests it only reports a change.
func diffHeaders(old, now Header) []string {
	d := &differ{}
	after := now.texts()
	for i, f := range old.texts() {
		if *f.value != *after[i].value {
			d.text(f.name, *f.value, *after[i].value)
		}
	}
	if old.Trial != now.Trial {
		d.add("trial", "%d → %d", old.Trial, now.Trial)
	}
	if old.Simulated != now.Simulated {
		d.add("simulated", "%t → %t", old.Simulated, now.Simulated)
	}
	for _, name := range digestNames(old, now) {
		a, b := old.Digests[name], now.Digests[name]
		switch at := "digests" + field("digests", name); {
		case a == b:
		case a == "":
			d.add(at, "added")
		case b == "":
			d.add(at, "removed")
		default:
			d.add(at, "changed")
		}
	}
	return d.all()
}

// digestNames returns the names in any of the headers, sorted.
func digestNames(headers ...Header) []string {
	var names []string
	for _, h := range headers {
		for name := range h.Digests {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func diffReplies(old, now *Interaction) []string {
	d := &differ{}
	if old.Response.Code != now.Response.Code {
		d.add("status", "%d → %d", old.Response.Code, now.Response.Code)
	}
	if old.Failure != now.Failure {
		d.text("failed", old.Failure, now.Failure)
	}
	d.body(old.Response.Body, now.Response.Body)
	return d.all()
}

// FindSecrets searches a cassette for the Secrets of f and for patterns of credentials. It
// returns the first find of the header and of every exchange. A file that is not a readable
// cassette is searched as text, and an error is returned, too. It uses the same fields as
// Inspect, and Secrets.
func FindSecrets(f File) ([]*SecretError, error) {
	data, err := loadFile(f)
	if err != nil {
		return nil, err
	}
	var found []*SecretError
	t, err := decodeFile(f, data)
	if err == nil {
		var secret *SecretError
		look := func(index int, part *Data) {
			if errors.As(Scan(f, part), &secret) {
				found = append(found, &SecretError{f.Path, index, secret.Field, secret.Kind})
			}
		}
		look(-1, &Data{Header: t.Header})
		for i := range t.Interactions {
			look(i, &Data{Interactions: t.Interactions[i : i+1]})
		}
		if found == nil && errors.As(findAcross(f, t), &secret) {
			found = append(found, secret)
		}
	}
	if found == nil { // outside every field, such as in a comment
		if kind := f.Secrets.Find(string(data)); kind != "" {
			found = append(found, &SecretError{f.Path, -1, "the file's text", kind})
		}
	}
	return found, err
}

// List returns the paths of the files in a folder that could be cassettes, in walking
// order, or those of an Archive; a missing folder has none.
func List(folder fs.FS) ([]string, error) {
	if a, ok := folder.(Archive); ok {
		return a.Names(), nil
	}
	var files []string
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if name == "." && errors.Is(err, fs.ErrNotExist) {
			return fs.SkipAll
		}
		if err == nil && !d.IsDir() && path.Ext(name) == ".yaml" && !strings.HasPrefix(d.Name(), ".") {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list cassettes: %w", err)
	}
	return files, nil
}
