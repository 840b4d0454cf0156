package cassette

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/internal/canonical"
	"github.com/cupel-eval/cupel/recorder/internal/checksum"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// goVCR is a cassette in the format of go-vcr v2.
func goVCR(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "go-vcr-1.yaml"))
	require.NoError(t, err)
	return data
}

func TestSealAcceptsAnEditedCassette(t *testing.T) {
	edited := strings.Replace(string(Encode(sample())), `"content":"hi"`, `"content":"ho"`, 1)
	edited = strings.Replace(edited, `{"choices":[]}`, `{"choices":[1]}`, 1)
	_, err := load1([]byte(edited), File{})
	requireCorrupt(t, err, "edited")

	data, err := reseal(File{Path: "a/b.yaml"}, []byte(edited))
	require.NoError(t, err)
	c, err := load1(data, File{})
	require.NoError(t, err)
	require.Equal(t, sample().Header, c.Header)
	its := c.Interactions
	require.Equal(t, canonical.Digest("POST", its[0].Request.URL, strings.Replace(its[1].Request.Body, "hi", "ho", 1)), its[0].Digest)
	require.Equal(t, []BodyRead{{15, 0}}, its[0].Reads, "the frames of an edited body are gone")
	require.Equal(t, sample().Interactions[1].Reads, its[1].Reads)
	require.Equal(t, sample().Interactions[1].FirstByte, its[1].FirstByte)
	require.True(t, its[1].ClosedEarly)

	again, err := reseal(File{}, data)
	require.NoError(t, err)
	require.Equal(t, data, again, "what is sealed stays as it is")
}

func TestSealRefuses(t *testing.T) {
	whole := Encode(sample())
	_, err := reseal(File{Path: "a/b.yaml"}, whole[:len(whole)-checksum.Size])
	requireCorrupt(t, err, "cut")
	_, err = reseal(File{Path: "a/b.yaml"}, whole[:len(whole)-1])
	requireCorrupt(t, err, "cut in the seal")
	_, err = reseal(File{Path: "a/b.yaml"}, []byte("version: 1\ninteractions: []\n"))
	require.ErrorContains(t, err, "no interactions")
	_, err = reseal(File{Path: "a/b.yaml", Secrets: secrets.New("hello\n   ")}, goVCR(t))
	require.NoError(t, err)
	_, err = reseal(File{Path: "a/b.yaml", Secrets: secrets.New("application/json")}, goVCR(t))
	require.Equal(t, &SecretError{"a/b.yaml", 0, "request.headers.Content-Type", "a configured secret"}, err)
}
