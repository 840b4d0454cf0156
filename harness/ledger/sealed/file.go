// Package sealed reads and writes files of a run folder that contain a checksum of their content
// (the seal), and detects files that were truncated or changed.
package sealed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cupel-eval/cupel/internal/regular"
)

// CorruptError means that a file of a run folder cannot be used, because it is missing, was
// truncated or changed, or belongs to another run or version of cupel. Path is the file's.
type CorruptError struct {
	Path string
	Err  error
}

// Error returns the path and the problem.
func (e *CorruptError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause, such as fs.ErrNotExist.
func (e *CorruptError) Unwrap() error { return e.Err }

// Fix ends errors about unusable files: it says what to do.
const Fix = "restore the run folder from a copy, or make the run again"

// Damage returns a *CorruptError for an error about the content of a file. It returns an error
// of the system unchanged, such as a missing permission, because that already has the path.
func Damage(path string, err error) error {
	var system *fs.PathError
	var known *CorruptError
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return &CorruptError{path, missing{err}}
	case errors.As(err, &system):
		return err
	}
	return &CorruptError{path, err}
}

// missing is fs.ErrNotExist without the path.
type missing struct{ error }

func (missing) Error() string   { return "missing; " + Fix }
func (m missing) Unwrap() error { return m.error }

// Digest returns the SHA-256 in lower-case hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Of returns the checksum of text, for run.json and sealed lines.
func Of(text []byte) string { return "sha256:" + Digest(text) }

// OpenFile opens a regular file of at most limit bytes and returns its size. It does not check
// the seal.
func OpenFile(path string, limit int64) (*os.File, int64, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > limit {
		err = fmt.Errorf("%d bytes, more than %d", info.Size(), limit)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// ReadFile reads a regular file of at most limit bytes. It does not check the seal.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, size, err := OpenFile(path, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data := make([]byte, size)
	_, err = io.ReadFull(f, data)
	return data, err
}
