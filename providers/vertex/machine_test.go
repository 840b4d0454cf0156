package vertex

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// TestTheMachinesOwnAccount checks that on a machine of Google's without a credentials
// file, the metadata server gives the token.
func TestTheMachinesOwnAccount(t *testing.T) {
	asked := ""
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		w.Header().Set("Metadata-Flavor", "Google")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"of-the-machine","expires_in":3600,"token_type":"Bearer"}`)
	}))
	defer metadata.Close()
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(metadata.URL, "http://"))
	google := &servers{}
	tr := newTransport(google, env(map[string]string{"HOME": t.TempDir()}))
	tr.onGoogle = func() bool { return true }
	r, err := ask(t, providers.Options{BaseURL: base, HTTP: &http.Client{Transport: tr}})
	require.NoError(t, err)
	require.Equal(t, "ok", r.Text)
	require.Equal(t, []string{"Bearer of-the-machine"}, google.sent)
	require.True(t, strings.HasSuffix(asked, "/token"), asked)
}

// TestNoFileElsewhere checks that on other machines a missing file is an error that
// names the fix.
func TestNoFileElsewhere(t *testing.T) {
	tr := newTransport(&servers{}, env(map[string]string{"HOME": t.TempDir()}))
	tr.onGoogle = func() bool { return false }
	_, err := ask(t, providers.Options{BaseURL: base, HTTP: &http.Client{Transport: tr}})
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.Auth, e.Kind)
	require.ErrorContains(t, err, "gcloud auth application-default login")
	var missing *credentialError
	require.ErrorAs(t, err, &missing)
	require.NotNil(t, errors.Unwrap(missing))
}

// TestClients checks that the caller's client is not changed, and that an invalid
// address is refused immediately.
func TestClients(t *testing.T) {
	own := &http.Client{Timeout: time.Minute}
	m, err := New(providers.Options{BaseURL: base, HTTP: own})
	require.NoError(t, err)
	require.NotNil(t, m)
	require.Nil(t, own.Transport, "the caller's client is another")
	require.NotNil(t, Transport(nil), "the default transport is used")

	_, err = New(providers.Options{BaseURL: "ftp://elsewhere", Key: "k"})
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.InvalidRequest, e.Kind)
}
