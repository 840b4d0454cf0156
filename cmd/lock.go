package cmd

import (
	"path/filepath"

	"github.com/cupel-eval/cupel/recorder"
)

// lockToWrite takes the lock of the folder of cassettes that a file is in, which a
// recording holds, too: see recorder.Lock. A file elsewhere needs none.
func lockToWrite(path string) (unlock func(), err error) {
	dir := cassettesFolder(path)
	if dir == "" {
		return func() {}, nil
	}
	return recorder.Lock(dir)
}

// cassettesFolder is the nearest folder named cassettes that a path is in; empty if
// there is none.
func cassettesFolder(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for dir, up := filepath.Dir(path), filepath.Dir(absolute); up != filepath.Dir(up); dir, up = filepath.Join(dir, ".."), filepath.Dir(up) {
		if filepath.Base(up) == "cassettes" {
			return dir
		}
	}
	return ""
}
