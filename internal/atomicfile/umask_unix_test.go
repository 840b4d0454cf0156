//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWriteRespectsTheUmask(t *testing.T) {
	for mask, want := range map[int]os.FileMode{0o022: 0o644, 0o002: 0o664, 0o077: 0o600} {
		path := filepath.Join(t.TempDir(), "x")
		before := unix.Umask(mask)
		err := WriteBytes(path, nil)
		unix.Umask(before)
		require.NoError(t, err)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), "umask %03o", mask)
	}
}
