package ledger

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
// cut or changed, is of another run or of another version of cupel.
type CorruptError struct {
	Path string
	Err  error
}

// Error names the file and what is wrong with it.
func (e *CorruptError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause, such as fs.ErrNotExist.
func (e *CorruptError) Unwrap() error { return e.Err }

// fixRun says what to do about a file that cannot be trusted.
const fixRun = "restore the run folder from a copy, or make the run again"

// damage names the file of an error about its content. An error of the system, such as
// a file that may not be read, says nothing about the content and names its file.
func damage(path string, err error) error {
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

func (missing) Error() string   { return "missing; " + fixRun }
func (m missing) Unwrap() error { return m.error }

func hexDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sealOf is the seal of text: that of run.json and of sealed lines.
func sealOf(text []byte) string { return "sha256:" + hexDigest(text) }

// openFile opens a file of at most limit bytes.
func openFile(path string, limit int64) (*os.File, int64, error) {
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

// readFile reads a file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, size, err := openFile(path, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data := make([]byte, size)
	_, err = io.ReadFull(f, data)
	return data, err
}
