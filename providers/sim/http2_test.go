package sim

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// http2Client speaks HTTP/2 over cleartext by prior knowledge, as the AWS SDK does.
func http2Client(t *testing.T) *http.Client {
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func TestCleartextHTTP2(t *testing.T) {
	s, err := Start(context.Background(), "", Config{Seed: 1})
	require.NoError(t, err)
	body := `{"messages":[{"role":"user","content":[{"text":"say over two"}]}]}`
	for _, path := range []string{"/converse", "/converse-stream"} {
		resp, err := http2Client(t).Post(s.URL()+"/model/sim-probe"+path, "application/json", strings.NewReader(body))
		require.NoError(t, err, path)
		require.Equal(t, 2, resp.ProtoMajor, path)
		require.Equal(t, http.StatusOK, resp.StatusCode, path)
		require.Empty(t, resp.Header.Get("Date"), "a reply depends on no clock")
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err, path)
		require.NoError(t, resp.Body.Close())
		require.Contains(t, string(text), "over", path)

		resp, err = client(t).Post(s.URL()+"/model/sim-probe"+path, "application/json", strings.NewReader(body))
		require.NoError(t, err, path)
		require.Equal(t, 1, resp.ProtoMajor, "HTTP/1.1 is still served")
		require.NoError(t, resp.Body.Close())
	}

	// Chaos that closes a connection without an end to the reply reaches the client as an error.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/model/sim-probe/converse", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set(ChaosHeader, "cut-body")
	resp, err := http2Client(t).Do(r)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}
	require.Error(t, err)

	begin := time.Now()
	require.NoError(t, s.Close())
	require.Less(t, time.Since(begin), 4*time.Second, "an idle connection does not delay Close")
}
