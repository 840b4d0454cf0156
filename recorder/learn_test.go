package recorder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// A credential of a request is refused in the reply, although it was not configured.
func TestRecorderLearnsSecretsOfRequests(t *testing.T) {
	r := newRecording(t, says("you sent abcdefgh-ijklmnop-42"))
	req := post(t, "https://api.test/", "{}")
	req.Header.Set("Authorization", "Bearer abcdefgh-ijklmnop-42")
	ask(t, r, req)
	require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: 0, Field: "response.body", Kind: "a configured secret"}, r.Save())
}

func TestErrorOmitsAPathWithASecret(t *testing.T) {
	r, err := New(Options{Mode: Record, Dir: t.TempDir(), Path: "canary-0123456789/1.yaml", Base: says("ok"), Secrets: secrets.New("canary-0123456789")})
	require.NoError(t, err)
	ask(t, r, post(t, "https://api.test/", "{}"))
	require.EqualError(t, r.Save(), "cassette [secret] not written: header holds a configured secret in path")
}
