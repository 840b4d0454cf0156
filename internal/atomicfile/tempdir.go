package atomicfile

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/cupel-eval/cupel/internal/regular"
)

// lockName is the locked file of a temporary folder that is in use.
const lockName = ".in-use"

// MkdirTemp makes a folder below that for temporary files, and removes those of the same
// prefix that killed processes left. remove removes the folder with all in it.
func MkdirTemp(prefix string) (dir string, remove func(), err error) {
	prefix += "-"
	entries, _ := os.ReadDir(os.TempDir()) // what counts is the new folder
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && e.IsDir() {
			removeUnused(filepath.Join(os.TempDir(), e.Name()))
		}
	}
	for {
		dir = filepath.Join(os.TempDir(), prefix+rand.Text()[:10])
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", nil, err
		}
		f, err := regular.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			if _, gone := os.Lstat(dir); gone != nil {
				continue // another process took it for a leftover
			}
			return "", nil, err
		}
		held, err := Lock(f)
		if err != nil || !held && isAt(f) { // without locks on the file system nothing is removed
			return dir, func() {
				_ = f.Close()
				_ = os.RemoveAll(dir)
			}, nil
		}
		_ = f.Close()
	}
}

// removeUnused removes a temporary folder that no living process uses. A folder of
// somebody else's cannot be opened.
func removeUnused(dir string) {
	f, err := regular.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if held, err := Lock(f); err == nil && !held {
		_ = os.RemoveAll(dir)
	}
}
