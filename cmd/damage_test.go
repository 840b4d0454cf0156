package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/internal/testkit"
)

var ledgerDigest = regexp.MustCompile(`"ledger_digest":"[0-9a-f]+"`)

// A damaged cassette or pack ends a run with code 3 and its name, or does not change the result.
func TestDamagedRecordingsEndWithCode3(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	b := newBench(t)
	for _, args := range [][]string{{"init"}, {"run", "--mode", "record", "--quiet"}, {"cassette", "pack", "-o", "x.pack"}} {
		end := b.run(0, args...)
		require.Zero(t, end.code, end.text)
	}
	want := ""
	for _, c := range []struct {
		file string
		args []string
	}{
		{filepath.Join("suites", "first", "cassettes", "strong", "F02", "1.yaml"), []string{"run", "--json"}},
		{"x.pack", []string{"run", "--json", "--pack", "x.pack"}},
	} {
		path := filepath.Join(b.dir, c.file)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		end := b.run(0, c.args...)
		require.Zero(t, end.code, end.text)
		if want == "" {
			want = ledgerDigest.FindString(end.text)
		}
		require.Equal(t, want, ledgerDigest.FindString(end.text))
		refused := 0
		check := func(damaged []byte, at int) {
			t.Helper()
			require.NoError(t, os.WriteFile(path, damaged, 0o644))
			end := b.run(0, c.args...)
			if end.code == 0 {
				require.Equal(t, want, ledgerDigest.FindString(end.text), "%s at %d", c.file, at)
				return
			}
			refused++
			require.Equal(t, exit.Replay, end.code, "%s at %d: %s", c.file, at, end.text)
			require.Contains(t, end.text, filepath.Base(c.file), "at %d", at)
		}
		samples := testkit.Long(2, 12)
		for n := range samples {
			at := len(data) * n / samples
			flipped := bytes.Clone(data)
			flipped[at] ^= 1 << (n % 8)
			check(flipped, at)
			check(data[:at], at)
		}
		require.Positive(t, refused)
		require.NoError(t, os.WriteFile(path, data, 0o644))
	}
}
