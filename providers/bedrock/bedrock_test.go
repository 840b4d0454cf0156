package bedrock

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/providertest"
)

func TestContract(t *testing.T) {
	withoutAWS(t)
	providertest.Run(t, providertest.Subject{
		New:    func(o providers.Options) (providers.Model, error) { o.Region = "us-east-1"; return New(o) },
		Encode: encode,
		Fault:  func(message string) string { return fmt.Sprintf(`{"message":%s}`, testkit.Quote(message)) },
		Skip: map[string]string{
			"json_object":               "the API has no mode for any JSON object",
			"usage":                     "the API does not tell reasoning from other output: see TestUsageClasses",
			"formats and request bytes": "the API takes the schema as a text inside of JSON: see TestRequestBodies",
			"missing key":               "a key is not needed, requests are signed: see TestNew",
		},
	})
}

func encode(a providertest.Answer) string {
	stop := map[providers.Finish]string{
		providers.FinishStop: "end_turn", providers.FinishLength: "max_tokens", providers.FinishTools: "tool_use",
		providers.FinishRefusal: "guardrail_intervened", providers.FinishOther: "malformed_model_output",
	}[a.Finish]
	usage := ""
	if u := a.Usage; u.Reported {
		usage = fmt.Sprintf(`,"usage":{"inputTokens":%d,"outputTokens":%d}`, u.Input, u.Output)
	}
	content := fmt.Sprintf(`{"text":%s}`, testkit.Quote(a.Text))
	for i, args := range a.Args {
		content += fmt.Sprintf(`,{"toolUse":{"toolUseId":"tooluse_%d","name":%q,"input":%s}}`, i, a.Tool, args)
	}
	return fmt.Sprintf(`{"metrics":{"latencyMs":1},"output":{"message":{"role":"assistant","content":[%s]}},"stopReason":%q%s,
		"trace":{"promptRouter":{"invokedModelId":"some-model"}}}`, content, stop, usage)
}

// withoutAWS hides the AWS configuration of this machine.
func withoutAWS(t *testing.T) {
	for _, name := range []string{
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_WEB_IDENTITY_TOKEN_FILE",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
}

// silent is a transport that does not say whether it replays or signs; declared does.
type silent struct{ seen *http.Request }

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.seen = r
	return nil, io.ErrUnexpectedEOF
}

type declared struct {
	silent
	live bool
}

func (l *declared) Live() bool { return l.live }

func TestNew(t *testing.T) {
	withoutAWS(t)
	for _, c := range []struct {
		name string
		o    providers.Options
		want string
	}{
		{"region", providers.Options{Region: "us-east-1"}, ""},
		{"no region", providers.Options{}, "AWS_REGION"},
		{"no region, a key", providers.Options{Key: "k"}, "AWS_REGION"},
		{"an address needs none", providers.Options{BaseURL: "https://gateway.test"}, ""},
		{"a region that is another host", providers.Options{Region: "evil.test/", Key: "k"}, "not the name of a region"},
		{"a key in the clear", providers.Options{BaseURL: "http://gateway.test", Key: "k"}, "not https"},
		{"a signature in the clear", providers.Options{BaseURL: "http://10.0.0.1", Region: "us-east-1"}, "not https"},
		{"a name that begins like this machine", providers.Options{BaseURL: "http://localhost.evil.test", Key: "k"}, "not https"},
		{"in the clear on this machine", providers.Options{BaseURL: "http://127.0.0.1:1", Key: "k"}, ""},
		{"a name of this machine", providers.Options{BaseURL: "http://sim.localhost", Key: "k"}, ""},
		{"this machine by name", providers.Options{BaseURL: "http://localhost:1", Key: "k"}, ""},
		{"this machine by version 6", providers.Options{BaseURL: "http://[::1]:1", Key: "k"}, ""},
		{"nothing secret in the clear", providers.Options{BaseURL: "http://recorded.test", HTTP: &http.Client{Transport: &silent{}}}, ""},
		{"a key with a line break", providers.Options{Region: "us-east-1", Key: "k\n"}, "position 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(c.o)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, "bedrock", e.Provider)
			require.Contains(t, e.Message, c.want)
		})
	}
}

func TestRegionOfTheConfiguration(t *testing.T) {
	withoutAWS(t)
	require.Empty(t, configuredRegion())
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte("[default]\nregion = eu-west-3\n[profile lab]\nregion = eu-west-1\n"), 0o600))
	t.Setenv("AWS_CONFIG_FILE", file)
	require.Equal(t, "eu-west-3", configuredRegion())
	t.Setenv("AWS_PROFILE", "lab")
	require.Equal(t, "eu-west-1", configuredRegion())
	t.Setenv("AWS_PROFILE", "none")
	require.Empty(t, configuredRegion())
	t.Setenv("AWS_REGION", "us-west-2")
	require.Equal(t, "us-west-2", configuredRegion())
}

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		name, model string
		stream      bool
		want        string
	}{
		{"model", "anthropic.claude-v2:1", false, "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-v2%3A1/converse"},
		{"stream", "amazon.nova-micro-v1:0", true, "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-micro-v1%3A0/converse-stream"},
		{"profile", "arn:aws:bedrock:us-east-1:1:inference-profile/us.x", false, "https://bedrock-runtime.us-east-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.x/converse"},
		{"no way out", "../../x y?z", false, "https://bedrock-runtime.us-east-1.amazonaws.com/model/..%2F..%2Fx%20y%3Fz/converse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &silent{}
			m, err := New(providers.Options{Region: "us-east-1", Key: "k-1", HTTP: &http.Client{Transport: s}})
			require.NoError(t, err)
			_, err = m.Call(context.Background(), providers.Call{Model: c.model, Stream: c.stream})
			require.Error(t, err)
			require.Equal(t, c.want, s.seen.URL.String())
			require.Equal(t, "Bearer k-1", s.seen.Header.Get("Authorization"))
			want := map[bool]string{true: "application/vnd.amazon.eventstream", false: "application/json"}
			require.Equal(t, want[c.stream], s.seen.Header.Get("Accept"))
		})
	}
}

func TestNoModel(t *testing.T) {
	m, err := New(providers.Options{Region: "us-east-1", Key: "k"})
	require.NoError(t, err)
	_, err = m.Call(context.Background(), providers.Call{})
	require.ErrorContains(t, err, "no model")
}

func TestRequestIDAndErrorType(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		typ    string
		body   string
		kind   fault.Kind
	}{
		{"validation", 400, "ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/", `{"message":"m"}`, fault.InvalidRequest},
		{"quota under 400", 400, "ServiceQuotaExceededException", `{"message":"m"}`, fault.Quota},
		{"being started under 429", 429, "ModelNotReadyException", `{"message":"m"}`, fault.Overloaded},
		{"model under 424", 424, "ModelErrorException", `{"message":"m","originalStatusCode":500}`, fault.Overloaded},
		{"signature under 400", 400, "com.amazon.coral.service#IncompleteSignatureException", `{"Message":"m"}`, fault.Auth},
		{"unknown type", 400, "NewException", `{"message":"m"}`, fault.InvalidRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Amzn-Requestid", "id-1")
				w.Header().Set("X-Amzn-Errortype", c.typ)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			m, err := New(providers.Options{BaseURL: server.URL, Key: "k"})
			require.NoError(t, err)
			reply, err := m.Call(context.Background(), providers.Call{Model: "m"})
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, &fault.Error{Kind: c.kind, Provider: "bedrock", Model: "m", Status: c.status, Message: "m", RequestID: "id-1"}, e)
			require.Equal(t, "id-1", reply.RequestID)
		})
	}
}

func TestLive(t *testing.T) {
	for _, c := range []struct {
		name   string
		client *http.Client
		want   bool
	}{
		{"no client", nil, true},
		{"no transport", &http.Client{}, true},
		{"the standard transport", &http.Client{Transport: &http.Transport{}}, true},
		{"one that says so", &http.Client{Transport: &declared{live: true}}, true},
		{"one that says not", &http.Client{Transport: &declared{}}, false},
		{"one that does not tell", &http.Client{Transport: &silent{}}, false},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, live(c.client)) })
	}
}

// Additional fields of a model are merged into the request, and signed with it.
func TestExtraFields(t *testing.T) {
	s := &silent{}
	m, err := New(providers.Options{Region: "us-east-1", HTTP: &http.Client{Transport: s}, Extra: json.RawMessage(`{"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2048}}}`)})
	require.NoError(t, err)
	_, err = m.Call(context.Background(), providers.Call{Model: "m", MaxTokens: 9})
	require.Error(t, err)
	body, err := io.ReadAll(s.seen.Body)
	require.NoError(t, err)
	require.Equal(t, `{"additionalModelRequestFields":{"thinking":{"budget_tokens":2048,"type":"enabled"}},"inferenceConfig":{"maxTokens":9},"messages":[]}`, string(body))
}
