package cassette

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder/internal/checksum"
)

// Archive is a file system of cassettes that are not stored as YAML files, but are read as such:
// a *Pack, or a folder of them. It has no folders to list.
type Archive interface {
	fs.FS
	// Names are the paths of the cassettes, sorted, in a fresh slice.
	Names() []string
	// Load returns a cassette for a replay, without parsing YAML. It may leave out the headers of
	// requests, which are not matched. If there is none, the error is fs.ErrNotExist.
	Load(name string) (*Data, error)
	// Digest returns the SHA-256 hex of a cassette's YAML file, without reading it; false if there
	// is none.
	Digest(name string) (string, bool)
	// Close closes its files. Afterwards no cassette can be read.
	Close() error
}

// Load reads the cassette that f names. An Archive returns it by its own Load.
func Load(f File) (*Data, error) {
	if a, ok := f.FS.(Archive); ok {
		t, err := a.Load(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &MissingError{Path: f.Path, Command: f.Command}
		}
		return t, err
	}
	data, err := loadFile(f)
	if err != nil {
		return nil, err
	}
	return decodeFile(f, data)
}

// loadFile reads the file that f names.
func loadFile(f File) ([]byte, error) {
	files := f.FS
	if files == nil {
		if f.Dir == "" {
			return nil, errors.New("read cassette " + f.Path + ": no folder to read from")
		}
		files = regular.DirFS(f.Dir)
	}
	data, err := readFile(files, f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &MissingError{Path: f.Path, Command: f.Command}
	case err != nil:
		return nil, fmt.Errorf("read cassette %s: %w", f.Path, err)
	case len(data) > MaxBytes:
		return nil, &CorruptError{f.Path, fmt.Sprintf("larger than %d bytes", MaxBytes)}
	}
	return data, nil
}

// decodeFile reads a cassette; a *CorruptError includes the fix.
func decodeFile(f File, data []byte) (*Data, error) {
	t, err := Decode(data, f.AllowUnsealed)
	if errors.Is(err, checksum.ErrNone) {
		return nil, &CorruptError{f.Path, err.Error() + "; seal a file you trust with cupel cassette seal" +
			advice("or record it with", f.Command)}
	}
	if err != nil {
		return nil, &CorruptError{f.Path, err.Error() + advice("record it again with", f.Command)}
	}
	return t, nil
}

// readFile reads a file up to maxBytes, and one byte more of a larger one.
func readFile(files fs.FS, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened only for reading, so closing loses no data
	size := 0
	if info, err := f.Stat(); err == nil && info.Size() <= MaxBytes {
		size = int(info.Size())
	}
	data := make([]byte, 0, size+1) // one more, to detect the end of the file
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) || len(data) > MaxBytes {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// FileDigest returns the SHA-256 hex of a cassette's file, like Recorder.Digest, without
// decoding it. An Archive has it in its index. If the file is missing, the error is
// fs.ErrNotExist.
func FileDigest(files fs.FS, path string) (string, error) {
	if a, ok := files.(Archive); ok {
		if digest, ok := a.Digest(path); ok {
			return digest, nil
		}
	}
	data, err := readFile(files, path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
