package goldens

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCandidateValidate(t *testing.T) {
	tokens, hot := 0, 2.5
	tests := []struct {
		name string
		c    Candidate
		want string
	}{
		{"sound", Candidate{Name: "gpt-x.1_a", Provider: "openai", Model: "GPT-X", BaseURL: "http://127.0.0.1:8080/v1", KeyEnv: "OPENAI_API_KEY"}, ""},
		{"zero", Candidate{}, "name: is missing\nprovider: is missing\nmodel: is missing"},
		{"name", Candidate{Name: "GPT", Provider: "p", Model: "m"}, `name: "GPT" may hold only a-z, 0-9, dot, dash and underscore`},
		{"reserved", Candidate{Name: "aux", Provider: "p", Model: "m"}, `name: "aux" is a reserved name on Windows, where it cannot be a folder`},
		{"address with password", Candidate{Name: "a", Provider: "p", Model: "m", BaseURL: "https://u:secret@host"}, "base_url: must be an http or https address without a user name"},
		{"wire fields", Candidate{Name: "a", Provider: "p", Model: "m", Region: "eu-west-1", Stream: true, Headers: map[string]string{"anthropic-beta": "x"}, Query: map[string]string{"api-version": "v1"}, Body: map[string]any{"top_k": 5}}, ""},
		{"no header, a header and a query with credentials", Candidate{Name: "a", Provider: "p", Model: "m", Headers: map[string]string{"a b": "", "X-Api-Key": "sk"}, Query: map[string]string{"key": "sk"}},
			"headers: X-Api-Key would contain a credential; name its environment variable with key_env instead\nheaders: \"a b\" is not a valid header name\nquery: key would contain a credential; name its environment variable with key_env instead"},
		{"a body that is no JSON", Candidate{Name: "a", Provider: "p", Model: "m", Body: map[string]any{"top_p": math.NaN()}}, "body: cannot be written as JSON"},
		{"numbers", Candidate{Name: "a", Provider: "p", Model: "m", MaxTokens: &tokens, Temperature: &hot}, "max_tokens: must be from 1 to 1000000, but is 0\ntemperature: must be a number from 0 to 2, but is 2.5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.c.Validate()
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tt.want)
		})
	}
}
