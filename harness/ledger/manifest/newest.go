package manifest

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Folder is a run folder.
type Folder struct {
	Dir     string
	Changed time.Time // when run.json was written
	size    int64     // of run.json
}

// Newest returns the run folders in a folder whose names begin with prefix, the one whose
// run.json changed last first: count at most, with bytes of run.json at most.
func Newest(runs, prefix string, count int, bytes int64) ([]Folder, error) {
	entries, err := os.ReadDir(runs)
	if err != nil {
		return nil, err
	}
	var list []Folder
	for _, e := range entries {
		dir := filepath.Join(runs, e.Name())
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, File)); err == nil {
			list = append(list, Folder{dir, info.ModTime(), info.Size()})
		}
	}
	slices.SortFunc(list, func(a, b Folder) int {
		return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(b.Dir, a.Dir))
	})
	list = list[:min(len(list), count)]
	for i, f := range list {
		if bytes -= f.size; bytes < 0 {
			return list[:i], nil
		}
	}
	return list, nil
}
