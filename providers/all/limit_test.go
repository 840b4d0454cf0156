package all

import (
	"maps"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/sim"
)

// TestLimit checks that every provider reads the refusals of a server with limits, and
// Retry-After if the vendor sends one.
func TestLimit(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(served)) {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
			server := httptest.NewServer(sim.Handler(sim.Config{Limit: "rpm=30,burst=1", Now: func() time.Time { return now }}))
			defer server.Close()
			model, err := Factories()[name](providers.Options{Provider: name, BaseURL: server.URL + served[name].base, Key: "k", Region: "r"})
			require.NoError(t, err)
			call := providers.Call{Model: "sim-strong", Messages: []providers.Message{{Role: providers.RoleUser, Text: "hello"}}, MaxTokens: 9}
			_, err = model.Call(t.Context(), call)
			require.NoError(t, err)
			now = now.Add(500 * time.Millisecond)
			_, err = model.Call(t.Context(), call)
			var failed *fault.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, fault.RateLimit, failed.Kind)
			require.True(t, failed.Retryable())
			require.Equal(t, map[string]time.Duration{
				"openai": 1500 * time.Millisecond, "openai-responses": 1500 * time.Millisecond, "anthropic": 2 * time.Second, "gemini": 1500 * time.Millisecond,
			}[name], failed.RetryAfter)
		})
	}
}
