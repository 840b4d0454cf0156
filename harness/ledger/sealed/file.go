// Package sealed reads and writes files of a run folder that carry a checksum of their
// content, their seal, and says of a file that it was cut or changed.
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

// CorruptError says that a file of a run folder cannot be trusted: it is missing, was
// cut or changed, is of another run or of another version of cupel. Path names the file.
type CorruptError struct {
	Path string
	Err  error
}

// Error names the file and what is wrong with it.
func (e *CorruptError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause, such as fs.ErrNotExist.
func (e *CorruptError) Unwrap() error { return e.Err }

// Fix is the end of an error about a file that cannot be trusted: what to do about it.
const Fix = "restore the run folder from a copy, or make the run again"

// Damage names the file of an error about its content. An error of the system, such as
// a file that may not be read, says nothing about the content and names its file.
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

// Of returns the seal of text: that of run.json and of sealed lines.
func Of(text []byte) string { return "sha256:" + Digest(text) }

// OpenFile opens a regular file of at most limit bytes and returns its size. It checks no
// seal.
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

// ReadFile reads a regular file of at most limit bytes. It checks no seal.
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
