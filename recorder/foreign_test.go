package recorder

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/cassette"
)

// cassette/testdata/go-vcr-1.yaml has the format of go-vcr v2, go-vcr-2.yaml that of v3 and v4.
func TestBothFormatsOfGoVCRAreRead(t *testing.T) {
	for name, file := range map[string]string{"version 1": "go-vcr-1.yaml", "version 2": "go-vcr-2.yaml"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("cassette", "testdata", file))
			require.NoError(t, err)
			_, err = opened(data, Options{})
			require.ErrorAs(t, err, new(*cassette.CorruptError))
			require.ErrorContains(t, err, "not sealed")

			r, err := opened(data, Options{AllowUnsealed: true})
			require.NoError(t, err)
			require.Zero(t, r.Header())
			requirePlaysHello(t, r)

			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "b.yaml"), data, 0o600))
			changed, err := cassette.SealFile(cassette.File{Dir: dir, Path: "b.yaml"})
			require.NoError(t, err)
			require.True(t, changed)
			own, err := os.ReadFile(filepath.Join(dir, "b.yaml"))
			require.NoError(t, err)
			require.NotContains(t, string(own), "abc", "credentials and cookies stay behind")
			require.NotContains(t, string(own), "a=b")
			r, err = opened(own, Options{})
			require.NoError(t, err)
			require.Equal(t, cassette.Header{}, r.Header())
			requirePlaysHello(t, r)
		})
	}
}

func requirePlaysHello(t *testing.T, r *Recorder) {
	t.Helper()
	req, seen := observed(post(t, "https://api.test/v1?b=2&a=1&key=another", `{ "a":1 }`))
	resp, got := ask(t, r, req)
	require.Equal(t, []string{"hello\n"}, got)
	require.Equal(t, "text/plain", resp.Header.Get("Content-Type"))
	require.Len(t, *seen, 1)
	require.Equal(t, 12345*time.Microsecond, (*seen)[0].FirstByte)
	require.Equal(t, 12345*time.Microsecond, (*seen)[0].Duration)
	require.Zero(t, r.Leftover())
}
