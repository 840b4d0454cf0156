package suiteimport

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/internal/clip"
)

// source is the folder of a benchmark.
type source struct {
	dir  string
	fsys fs.FS
}

// The bounds of what is read.
const (
	maxFile     = 64 << 20 // bytes, decompressed
	maxProblems = 100      // that are listed
)

// members are the fields of an object that a format does not read.
type members map[string]jsontext.Value

// find returns the name of the first of some files that exists, as it is or with gzip; empty
// if none does.
func (s source) find(names ...string) string {
	for _, name := range names {
		for _, name := range []string{name, name + ".gz"} {
			if info, err := fs.Stat(s.fsys, name); err == nil && !info.IsDir() {
				return name
			}
		}
	}
	return ""
}

// content reads a file, decompressed.
func (s source) content(name string) ([]byte, error) {
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var in io.Reader = f
	if path.Ext(name) == ".gz" {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("%s: is larger than %d MiB", name, maxFile>>20)
	}
	return bytes.TrimPrefix(text, []byte("\uFEFF")), nil
}

// lines calls read with each line of a file that is not blank. The error joins what read
// finds wrong, each with file and line.
func lines(name string, text []byte, read func(line []byte) error) error {
	var errs []error
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := read(line); err != nil {
			if errs = append(errs, fmt.Errorf("%s:%d: %w", name, n, err)); len(errs) == maxProblems {
				return errors.Join(append(errs, fmt.Errorf("%s: more problems are not listed", name))...)
			}
		}
	}
	return errors.Join(errs...)
}

// decode reads a JSON object; what is wrong is said in one line.
func decode(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	if err == nil {
		return nil
	}
	return fmt.Errorf("is not the JSON object that is expected: %s", strings.Join(strings.Fields(err.Error()), " "))
}

// unknown counts fields that are not read.
func (s *suite) unknown(fields members) {
	for name := range fields {
		s.leftOut["field "+name+", which the format does not have"]++
	}
}

// licence takes over the notices that come with the files.
func (s *suite) licence(from source) error {
	for _, name := range []string{"LICENSE", "NOTICE"} {
		if from.find(name) != name {
			continue
		}
		text, err := from.content(name)
		if err != nil {
			return err
		}
		s.files[name] = text
	}
	return nil
}

// digest is the SHA-256 of a file, for the provenance of a suite.
func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// quote is a text of unknown origin in a message, bounded.
func quote(text string) string { return strconv.Quote(clip.Bytes(text, 100)) }
