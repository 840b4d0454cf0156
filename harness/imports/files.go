package imports

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/regular"
)

// File is one file to import.
type File struct {
	// Path opens the file; Source is what the run folder says of it, without folders.
	Path   string
	Source manifest.SourceFile
}

// maxFiles bounds the files of an import.
const maxFiles = 100_000

// Files finds the files of paths: files as they are, and of folders, at any depth, those with one
// of the suffixes, in the order of their names. Content that is there twice is taken once.
func Files(paths, suffixes []string) ([]File, error) {
	var out []File
	seen := map[string]bool{}
	add := func(path string) error {
		source, err := describe(path)
		if err == nil && len(out) == maxFiles {
			err = fmt.Errorf("more than %d files; import them in parts", maxFiles)
		}
		if err == nil && !seen[source.Digest] {
			seen[source.Digest] = true
			out = append(out, File{path, source})
		}
		return err
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			if err := add(path); err != nil {
				return nil, err
			}
			continue
		}
		before := len(out)
		err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !slices.Contains(suffixes, filepath.Ext(name)) {
				return err
			}
			return add(name)
		})
		if err == nil && len(out) == before {
			err = fmt.Errorf("%s has no file that ends in one of %v; name the files", path, suffixes)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// describe reads a file for its size and digest.
func describe(path string) (manifest.SourceFile, error) {
	f, err := regular.Open(path)
	if err != nil {
		return manifest.SourceFile{}, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return manifest.SourceFile{Name: filepath.Base(path), Bytes: n, Digest: hex.EncodeToString(h.Sum(nil))}, err
}
