package vertex

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

const base = "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google"

const answer = `{"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"trafficType":"ON_DEMAND"}}`

// servers are a fake token server and a fake model server.
type servers struct {
	token    func(url.Values) (int, string)
	asked    int      // requests for tokens
	sent     []string // the Authorization of each call of a model
	lastHost string
}

func (g *servers) RoundTrip(req *http.Request) (*http.Response, error) {
	status, body := 200, answer
	if strings.HasSuffix(req.URL.Path, "/token") {
		g.asked++
		text, _ := io.ReadAll(req.Body)
		form, _ := url.ParseQuery(string(text))
		status, body = g.token(form)
	} else {
		g.sent, g.lastHost = append(g.sent, req.Header.Get("Authorization")), req.URL.Host
	}
	return testkit.Reply(req, status, body), nil
}

// file writes credentials and returns an environment that names them.
func file(t *testing.T, content string) func(string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "adc.json")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return env(map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": path})
}

func env(m map[string]string) func(string) string { return func(name string) string { return m[name] } }

func ask(t *testing.T, o providers.Options) (providers.Reply, error) {
	t.Helper()
	m, err := New(o)
	require.NoError(t, err)
	require.NotEmpty(t, m.(providers.Formatter).Modes())
	return m.Call(context.Background(), providers.Call{Model: "gemini-x", Messages: []providers.Message{{Role: "user", Text: "hi"}}})
}

// offGoogle is a transport on a machine outside of Google.
func offGoogle(base http.RoundTripper, env func(string) string) *transport {
	t := newTransport(base, env)
	t.onGoogle = func() bool { return false }
	return t
}

const user = `{"type":"authorized_user","client_id":"id","client_secret":"hush","refresh_token":"again"}`

func TestAnAddressIsDemandedAndShown(t *testing.T) {
	for region, want := range map[string]string{
		"":             "https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/publishers/google",
		"global":       "https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/publishers/google",
		"europe-west4": "https://europe-west4-aiplatform.googleapis.com/v1/projects/PROJECT/locations/europe-west4/publishers/google",
	} {
		_, err := New(providers.Options{Region: region})
		var e *fault.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, fault.InvalidRequest, e.Kind)
		require.True(t, strings.HasSuffix(e.Message, want), e.Message)
	}
}

func TestTheKeyIsABearerToken(t *testing.T) {
	g := &servers{}
	got, err := ask(t, providers.Options{BaseURL: base, Key: "ya29.k", HTTP: &http.Client{Transport: g}})
	require.NoError(t, err)
	require.Equal(t, "ok", got.Text)
	require.Equal(t, "ON_DEMAND", got.Usage.Tier)
	require.Equal(t, []string{"Bearer ya29.k"}, g.sent)
}

func TestATokenOfAUserIsFetchedOnce(t *testing.T) {
	g := &servers{token: func(form url.Values) (int, string) {
		require.Equal(t, "refresh_token", form.Get("grant_type"))
		require.Equal(t, "again", form.Get("refresh_token"))
		return 200, `{"access_token":"t1","expires_in":3600,"token_type":"Bearer"}`
	}}
	o := providers.Options{BaseURL: base, HTTP: &http.Client{Transport: offGoogle(g, file(t, user))}}
	for range 2 {
		_, err := ask(t, o)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"Bearer t1", "Bearer t1"}, g.sent)
	require.Equal(t, 1, g.asked)
	require.Equal(t, "europe-west4-aiplatform.googleapis.com", g.lastHost)
}

func TestATokenOfAServiceAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	for name, uri := range map[string]string{"default": "", "own": "https://oauth2.googleapis.com/token"} {
		content, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "a@p.iam", "private_key": string(block), "private_key_id": "1", "token_uri": uri})
		require.NoError(t, err)
		g := &servers{token: func(form url.Values) (int, string) {
			require.Len(t, strings.Split(form.Get("assertion"), "."), 3)
			return 200, `{"access_token":"t2","expires_in":3600}`
		}}
		_, err = ask(t, providers.Options{BaseURL: base, HTTP: &http.Client{Transport: offGoogle(g, file(t, string(content)))}})
		require.NoError(t, err, name)
		require.Equal(t, []string{"Bearer t2"}, g.sent)
	}
}

func TestMissingCredentialsAreAuthAndKeepSecrets(t *testing.T) {
	refuse := func(url.Values) (int, string) {
		return 400, `{"error":"invalid_grant","error_description":"again hush"}`
	}
	for name, c := range map[string]struct {
		env  func(string) string
		want string
	}{
		"no file":       {env(map[string]string{"HOME": t.TempDir(), "APPDATA": t.TempDir()}), "application_default_credentials.json"},
		"not JSON":      {file(t, `hush`), "invalid character"},
		"another kind":  {file(t, `{"type":"passport"}`), `unknown credential type`},
		"token refused": {file(t, user), `"invalid_grant"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := &servers{token: refuse}
			_, err := ask(t, providers.Options{BaseURL: base, HTTP: &http.Client{Transport: offGoogle(g, c.env)}})
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, fault.Auth, e.Kind)
			require.False(t, e.Retryable())
			require.Contains(t, err.Error(), c.want)
			require.Contains(t, err.Error(), "VERTEX_ACCESS_TOKEN")
			require.NotContains(t, err.Error(), "hush")
			require.Empty(t, g.sent, "the model was asked without a token")
		})
	}
}

func TestATokenGoesToGoogleOnly(t *testing.T) {
	g := &servers{}
	for _, elsewhere := range []string{"http://europe-west4-aiplatform.googleapis.com/v1", "https://googleapis.com.example/v1", "https://evilgoogleapis.com/v1"} {
		_, err := ask(t, providers.Options{BaseURL: elsewhere, HTTP: &http.Client{Transport: offGoogle(g, file(t, user))}})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"", "", ""}, g.sent)
	require.Zero(t, g.asked)
}

func TestAReplayReadsNoCredentials(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	g := &servers{}
	_, err := ask(t, providers.Options{BaseURL: base, HTTP: &http.Client{Transport: g}})
	require.NoError(t, err)
	require.Equal(t, []string{""}, g.sent)
	_, err = ask(t, providers.Options{BaseURL: base})
	require.ErrorContains(t, err, "none.json", "without a transport the credentials are read")
}
