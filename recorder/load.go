package recorder

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cupel-eval/cupel/internal/regular"
)

// load reads the cassette that the options name. A pack gives it without its YAML.
func load(o Options) (*tape, error) {
	if p, ok := o.FS.(*Pack); ok {
		if e := p.entries[o.Path]; e != nil {
			return p.tape(e, true)
		}
		return nil, &MissingError{Path: o.Path, Command: o.Command}
	}
	data, err := loadFile(o)
	if err != nil {
		return nil, err
	}
	return decodeFile(o, data)
}

// loadFile reads the file that the options name.
func loadFile(o Options) ([]byte, error) {
	files := o.FS
	if files == nil {
		if o.Dir == "" {
			return nil, errors.New("read cassette " + o.Path + ": no folder to read from")
		}
		files = regular.DirFS(o.Dir)
	}
	data, err := readFile(files, o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &MissingError{Path: o.Path, Command: o.Command}
	case err != nil:
		return nil, fmt.Errorf("read cassette %s: %w", o.Path, err)
	case len(data) > maxBytes:
		return nil, &CorruptError{o.Path, fmt.Sprintf("larger than %d bytes", maxBytes)}
	}
	return data, nil
}

// decodeFile reads a cassette; a *CorruptError says what to do about it.
func decodeFile(o Options, data []byte) (*tape, error) {
	t, err := decode(data, o.AllowUnsealed)
	if errors.Is(err, errUnsealed) {
		return nil, &CorruptError{o.Path, err.Error() + "; seal a file you trust with cupel cassette seal" +
			advice("or record it with", o.Command)}
	}
	if err != nil {
		return nil, &CorruptError{o.Path, err.Error() + advice("record it again with", o.Command)}
	}
	return t, nil
}

// readFile reads a file of at most maxBytes, and one byte more of a larger one.
func readFile(files fs.FS, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	size := 0
	if info, err := f.Stat(); err == nil && info.Size() <= maxBytes {
		size = int(info.Size())
	}
	data := make([]byte, 0, size+1) // one more: the end of the file needs room to show
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) || len(data) > maxBytes {
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

// FileDigest returns the SHA-256 hex of a cassette's file, as Recorder.Digest
// does, without looking at what is in it. A Pack knows it. Without the file it
// is fs.ErrNotExist.
func FileDigest(files fs.FS, path string) (string, error) {
	if p, ok := files.(*Pack); ok && p.entries[path] != nil {
		return hex.EncodeToString(p.entries[path].file[:]), nil
	}
	data, err := readFile(files, path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// Seal reads a cassette that go-vcr wrote, or a sealed one that was edited by
// hand, and returns it as a sealed cassette of cupel's own: digests are
// computed anew, headers outside the allow-list are dropped, credentials are a
// *SecretError. It uses Path, Header and Secrets of o; an edited cassette
// keeps its own header. One that was cut is a *CorruptError.
//
// Sealing says that the file is whole: only a person can know that of a file
// another tool wrote.
func Seal(o Options, data []byte) ([]byte, error) {
	if len(data) > maxBytes {
		return nil, &CorruptError{o.Path, fmt.Sprintf("larger than %d bytes", maxBytes)}
	}
	t, err := reopen(data, o.Header)
	if err != nil {
		return nil, &CorruptError{o.Path, err.Error()}
	}
	return press(o, t)
}
