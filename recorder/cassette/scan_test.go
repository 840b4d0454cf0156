package cassette

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// TestNoFalseAlarmInShippedCassettes searches every cassette and text of the built-in suite for
// credentials, and must find none.
func TestNoFalseAlarmInShippedCassettes(t *testing.T) {
	s := secrets.New("canary-0123456789", "a+second/one==")
	files := 0
	require.NoError(t, filepath.WalkDir(filepath.Join("..", "..", "goldens", "counts"), func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Empty(t, s.Find(string(data)), path)
		if !strings.Contains(path, "cassettes") || filepath.Ext(path) != ".yaml" {
			return nil
		}
		if files++; files%testkit.SlowN(4, 1) != 0 {
			return nil
		}
		recorded, err := Decode(data, false)
		require.NoError(t, err, path)
		require.NoError(t, Scan(File{Path: "c.yaml", Secrets: s}, recorded), path)
		return nil
	}))
	require.GreaterOrEqual(t, files, 340)
}
