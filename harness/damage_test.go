package harness_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// A cassette or pack with a flipped bit or a truncation is rejected by name, or the run has the
// same result. Package recorder tests every bit of both.
func TestDamagedRecordings(t *testing.T) {
	o := recordOptions(t, "G01", "G41")
	o.Select.Candidates = []string{"strong"}
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "x.pack")
	_, err = cassette.WritePack(path, os.DirFS(o.CassetteDir))
	require.NoError(t, err)
	pack, err := os.ReadFile(path)
	require.NoError(t, err)
	const name = "strong/G01/1.yaml"
	one, err := os.ReadFile(filepath.Join(o.CassetteDir, filepath.FromSlash(name)))
	require.NoError(t, err)

	o.Mode, o.Transport, o.Runs = recorder.Replay, nil, ""
	run := func(files fs.FS) (harness.Result, error) {
		o.Cassettes = files
		return harness.Run(context.Background(), o)
	}
	fromPack := func(data []byte) (harness.Result, error) {
		p, err := cassette.OpenPack(fstest.MapFS{"x.pack": {Data: data}}, "x.pack")
		if err != nil {
			return harness.Result{}, err
		}
		defer func() { require.NoError(t, p.Close()) }()
		return run(p)
	}
	other, err := os.ReadFile(filepath.Join(o.CassetteDir, "strong", "G41", "1.yaml"))
	require.NoError(t, err)
	fromFiles := func(data []byte) (harness.Result, error) {
		return run(fstest.MapFS{name: {Data: data}, "strong/G41/1.yaml": {Data: other}})
	}
	for what, c := range map[string]struct {
		data  []byte
		name  string
		run   func([]byte) (harness.Result, error)
		every int
	}{
		"pack":     {pack, "x.pack", fromPack, testkit.SlowN(3, 1) * 131},
		"cassette": {one, name, fromFiles, testkit.SlowN(3, 1) * 409},
	} {
		t.Run(what, func(t *testing.T) {
			want, err := c.run(c.data)
			require.NoError(t, err)
			require.Zero(t, want.Manifest.Outcomes.WithoutResult())
			check := func(data []byte, at int, how string) {
				t.Helper()
				got, err := c.run(data)
				var corrupt *cassette.CorruptError
				switch {
				case errors.As(err, &corrupt):
					require.ErrorContains(t, err, c.name, "%s at %d", how, at)
				case err != nil:
					require.NoError(t, err, "%s at %d", how, at)
				case got.Excluded.ByKind[episode.KindCassetteCorrupt] > 0:
					require.Contains(t, got.Excluded.First[0].ErrorText, c.name, "%s at %d", how, at)
				default:
					require.Equal(t, want.Manifest.LedgerDigest, got.Manifest.LedgerDigest, "%s at %d", how, at)
				}
			}
			for bit := 0; bit < len(c.data)*8; bit += c.every {
				flipped := bytes.Clone(c.data)
				flipped[bit/8] ^= 1 << (bit % 8)
				check(flipped, bit, "bit flipped")
			}
			for n := 0; n < len(c.data); n += c.every {
				check(c.data[:n], n, "cut")
			}
		})
	}
}
