package gemini

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

var seeds = []string{
	candidateOf(`{"text":"a"},{"text":"t","thought":true,"thoughtSignature":"s"},{"functionCall":{"id":"x","name":"f","args":{"a":1}}}`, stopped),
	`[` + candidateOf(`{"text":"a"}`, ``) + `,` + candidateOf(`{"executableCode":{}}`, stopped) + `]`,
	`{"promptFeedback":{"blockReason":1}}`, `{"error":{"code":429,"details":[{"retryDelay":"1s"}]}}`, `[{"error":{"status":"INTERNAL"}}]`, `{"usageMetadata":{"promptTokenCount":1e99}}`, "\ufeff [", "[]", "null",
}

// consistent checks properties of every reply.
func consistent(t *testing.T, r providers.Reply) {
	u := r.Usage
	for _, n := range []int64{u.Input, u.Output, u.CacheRead, u.Reasoning} {
		require.GreaterOrEqual(t, n, int64(0))
	}
	ids := map[string]bool{}
	for _, c := range r.Calls {
		require.False(t, c.ID == "" || ids[c.ID])
		ids[c.ID] = true
		require.True(t, json.Valid([]byte(c.Args)))
	}
	if r.Continuation != nil {
		parts, _ := readContinuation(r.Continuation)
		require.NotEmpty(t, parts, "our own is known again")
	}
}

func FuzzWhole(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, complete, err := decode(body, false)
		if err == nil && complete { // a body of events is a stream, even if none was requested
			require.NotEmpty(t, got.Finish)
		}
		consistent(t, got)
	})
}

func FuzzStream(f *testing.F) {
	for _, s := range seeds {
		f.Add("data: " + s + "\n\n")
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, complete, err := decode(body, true)
		if err == nil && complete {
			require.NotEmpty(t, got.Finish)
		}
		consistent(t, got)
	})
}

func FuzzFault(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		require.GreaterOrEqual(t, readFault([]byte(body)).RetryAfter.Nanoseconds(), int64(0))
	})
}
