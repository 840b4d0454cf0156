// Package store keeps objects: finished runs, journals and segments of packs, in a folder,
// in S3 or in JetStream. It links neither of the two; they are packages beneath it.
package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Store is a set of named objects that several processes read and write. All methods are
// safe for concurrent use. Their errors name the operation and the object, and wrap one of
// the errors of this package if it applies.
type Store interface {
	// Put stores an object if its current revision is was, and returns the new revision.
	// Otherwise it fails with ErrChanged and changes nothing. Readers see the old content or
	// the new, never a part. If the answer of the store is lost, Put asks again, and takes an
	// object with equal bytes for its own: callers that compete put their name in the bytes.
	Put(ctx context.Context, name string, body io.ReadSeeker, was Revision) (Revision, error)
	// Get opens an object; the caller closes it. It fails with ErrNotFound if there is none.
	Get(ctx context.Context, name string) (io.ReadCloser, Object, error)
	// List returns the objects whose names have a prefix, in the order of their bytes, without
	// revisions. It stops at the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes an object. It succeeds if there is none.
	Delete(ctx context.Context, name string) error
}

// Revision identifies a content of an object. Only equality has a meaning.
type Revision string

// None is the revision of an object that does not exist. Any stands for every revision,
// None included: a Put of Any replaces whatever there is.
const (
	None Revision = ""
	Any  Revision = "*"
)

// Object describes an object.
type Object struct {
	Name string
	// Size is in bytes.
	Size int64
	// Modified is when it was written, by the clock of the store.
	Modified time.Time
	// Revision is empty in lists.
	Revision Revision
}

// These errors say what a caller can do. The text of an error that wraps one has the cause.
var (
	// ErrNotFound means that there is no such object.
	ErrNotFound = errors.New("no such object")
	// ErrChanged means that the condition of a Put did not hold: another writer was first.
	ErrChanged = errors.New("another writer made or changed the object")
	// ErrDenied means that credentials are missing, wrong, or lack a permission.
	ErrDenied = errors.New("the store refuses access")
	// ErrFull means that the store has no space left, or that a quota is used up.
	ErrFull = errors.New("the store is full")
	// ErrUnavailable means that the store does not answer, or is overloaded: it may work later.
	ErrUnavailable = errors.New("the store does not answer")
)

// maxName and maxElement bound a name and each of its elements, in bytes, so that every
// store takes it.
const maxName, maxElement = 900, 200

// CheckName returns an error unless every store takes the name of an object: elements of
// visible characters with slashes between them, none of which begins with a dot.
func CheckName(name string) error {
	if err := checkText(name); err != nil {
		return err
	}
	for element := range strings.SplitSeq(name, "/") {
		switch {
		case element == "":
			return fmt.Errorf("object name %.80q has an empty element; write it without a slash at its ends and without //", name)
		case element[0] == '.':
			return fmt.Errorf("object name %.80q has an element that begins with a dot", name)
		case len(element) > maxElement:
			return fmt.Errorf("object name %.80q has an element of more than %d bytes", name, maxElement)
		}
	}
	return nil
}

// CheckPrefix returns an error unless a prefix is the beginning of the name of an object.
// The empty prefix is that of all.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	return CheckName(strings.TrimSuffix(prefix, "/"))
}

func checkText(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("object name %.80q has more than %d bytes", name, maxName)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("object name %.80q is not UTF-8", name)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || strings.ContainsRune(`\:*?"<>|`, r) {
			return fmt.Errorf("object name %.80q has the character %q, which not every store takes", name, r)
		}
	}
	return nil
}

// EqualBytes reports whether two readers have the same bytes.
func EqualBytes(a, b io.Reader) (bool, error) {
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(a, x)
		m, errB := io.ReadFull(b, y)
		for _, err := range []error{errA, errB} {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return false, err
			}
		}
		if !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		if n < len(x) {
			return true, nil
		}
	}
}

// Probe returns an error if a store ignores the conditions of puts, as some servers do.
// With such a store, two writers would replace each other's objects.
func Probe(ctx context.Context, s Store) error {
	const name = "cupel-probe"
	put := func(text string, was Revision) (Revision, error) {
		return s.Put(ctx, name, strings.NewReader(text), was)
	}
	rev, err := put("a", Any)
	if err != nil {
		return err
	}
	for _, was := range []Revision{None, rev + "0"} {
		if _, err := put("b", was); err == nil {
			return errors.New("the store ignores the conditions of puts; use a server that has them")
		} else if !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return s.Delete(ctx, name)
}
