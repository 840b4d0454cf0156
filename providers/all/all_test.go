package all

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestNamesAgree(t *testing.T) {
	require.Subset(t, Names(), []string{"anthropic", "openai", "openai-compatible", "sim-anthropic", "sim-openai", "vertex-anthropic"})
	require.Len(t, entries(), len(Names()), "two entries have one name")
	require.Equal(t, Names(), slices.Sorted(maps.Keys(Versions())))
	for name := range Keys() {
		require.Contains(t, Names(), name)
	}
	for _, name := range Names() {
		_, err := providers.DefaultPolicy().Resolve(name, "action")
		require.NoError(t, err, "the default policy has no dials for %s", name)
	}
}

func TestKeysAndAddresses(t *testing.T) {
	for name, make := range Factories() {
		_, err := make(providers.Options{})
		switch name {
		case "anthropic", "openai":
			require.ErrorContains(t, err, Keys()[name])
			require.ErrorContains(t, err, name+":")
		case "openai-compatible":
			require.ErrorContains(t, err, "LLM_API_URL")
			_, err = make(providers.Options{BaseURL: "http://127.0.0.1:8080/v1"})
			require.NoError(t, err)
		case "vertex-anthropic":
			require.ErrorContains(t, err, "VERTEX_ACCESS_TOKEN")
			_, err = make(providers.Options{Key: "k"})
			require.ErrorContains(t, err, "base_url")
		default: // some need a key, some an address, some neither
			if err != nil {
				var e *providers.Error
				require.ErrorAs(t, err, &e)
				require.Contains(t, []providers.Kind{providers.Auth, providers.InvalidRequest}, e.Kind)
				require.ErrorContains(t, err, name+":")
			}
			_, err = make(providers.Options{BaseURL: "http://127.0.0.1:8080/v1", Key: "k", Region: "eu-west-1"})
			require.NoError(t, err, name)
		}
	}
}

type answering struct{ got *http.Request }

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	a.got = r
	return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
}

func TestEachWireGoesToItsOwnAddressUnderItsOwnName(t *testing.T) {
	for name, want := range map[string]string{
		"anthropic":         "https://api.anthropic.com/v1/messages",
		"openai":            "https://api.openai.com/v1/chat/completions",
		"openai-compatible": "http://127.0.0.1:1/x/chat/completions",
		"azure":             "http://127.0.0.1:1/x/chat/completions",
		"bedrock-mantle":    "https://bedrock-mantle.eu-west-1.api.aws/v1/chat/completions",
		"groq":              "https://api.groq.com/openai/v1/chat/completions",
		"mistral":           "https://api.mistral.ai/v1/chat/completions",
		"perplexity":        "https://api.perplexity.ai/chat/completions",
		"zai":               "https://api.z.ai/api/paas/v4/chat/completions",
		"vllm":              "http://127.0.0.1:8000/v1/chat/completions",
		"sim-anthropic":     "http://sim.localhost/v1/messages",
		"sim-openai":        "http://sim.localhost/v1/chat/completions",
		"vertex-anthropic":  "http://127.0.0.1:1/x/models/m:rawPredict",
	} {
		seen := &answering{}
		o := providers.Options{Region: "eu-west-1", HTTP: &http.Client{Transport: seen}}
		if name == "openai-compatible" || name == "azure" || name == "vertex-anthropic" {
			o.BaseURL = "http://127.0.0.1:1/x"
		}
		m, err := Factories()[name](o)
		require.NoError(t, err)
		_, err = m.Call(context.Background(), providers.Call{Model: "m"})
		require.ErrorContains(t, err, name+": model m: auth (HTTP 401)")
		require.Equal(t, want, seen.got.URL.String())
		require.Empty(t, seen.got.Header.Get("Authorization"))
		require.Empty(t, seen.got.Header.Get("X-Api-Key"))
	}
}
