package cassette

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// File names one cassette and how to read it.
type File struct {
	// FS is its file system, Dir the folder if FS is nil; writers need Dir. Path is its
	// slash-separated name in either.
	FS   fs.FS
	Dir  string
	Path string
	// Command is the shell command that records the cassette, for errors.
	Command string
	// Secrets finds credentials that the cassette must not contain; nil finds only patterns of
	// credentials.
	Secrets *secrets.Finder
	// AllowUnsealed accepts a cassette that go-vcr wrote, which has no checksum.
	AllowUnsealed bool
}

// OnDisk is the path of the file in Dir.
func (f File) OnDisk() string { return filepath.Join(f.Dir, filepath.FromSlash(f.Path)) }

// Write replaces the file, and creates its folder.
func (f File) Write(data []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.OnDisk()), 0o777); err != nil {
		return err
	}
	return atomicfile.WriteBytes(f.OnDisk(), data)
}
