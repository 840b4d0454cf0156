package fleets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cupel-eval/cupel/internal/regular"
)

// build tells this program apart from others of its version: the SHA-256 of its file, or nothing if the
// version is that of a commit or a release.
func build(version string) (digest string, err error) {
	if version != "devel" && version != "unknown" && !strings.HasSuffix(version, "+dirty") {
		return "", nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("read the program, to compare it with those of other machines: %w", err)
		}
	}()
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
