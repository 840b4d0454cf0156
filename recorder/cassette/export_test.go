package cassette

import (
	"io/fs"
	"testing"
)

// These names are shared with the tests that replay a pack.
var (
	Talks = talks
	Floor = floor
)

// PackOf packs cassettes and opens the pack.
func PackOf(t testing.TB, files fs.FS) (*Pack, Packed) {
	t.Helper()
	path, sum := packed(t, files)
	return openedPack(t, path), sum
}
