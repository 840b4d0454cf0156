package cmd

import (
	"os"
	"path/filepath"

	"github.com/cupel-eval/cupel/internal/atomicfile"
)

// writeOutput replaces the file that -o names in one step. What is there and is not a
// file, such as a pipe or /dev/stdout, is written to as it is; a link keeps its place.
func writeOutput(path string, text []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, text, 0o666)
	}
	return atomicfile.WriteBytes(path, text)
}
