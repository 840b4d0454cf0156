package providertest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

var background = context.Background()

// requireReply demands what every complete reply has.
func requireReply(t require.TestingT, r providers.Reply) {
	require.Equal(t, http.StatusOK, r.Status)
	require.NotEmpty(t, r.Finish)
	require.NotEmpty(t, r.FinishRaw)
	ids := map[string]bool{}
	for _, c := range r.Calls {
		require.NotEmpty(t, c.ID)
		require.False(t, ids[c.ID], "two calls have the id %s", c.ID)
		require.True(t, json.Valid([]byte(c.Args)), "arguments: %s", c.Args)
		ids[c.ID] = true
	}
	for _, n := range []int64{r.Usage.Input, r.Usage.Output, r.Usage.CacheRead, r.Usage.CacheWrite, r.Usage.Reasoning} {
		require.GreaterOrEqual(t, n, int64(0))
	}
}

// requireStream demands that a reply has times and that the pieces add up to it.
func requireStream(t require.TestingT, r providers.Reply, pieces []providers.Delta, c providers.Call) {
	if len(r.Frames) > 0 || r.Text+r.Reasoning+r.Refusal != "" || len(r.Calls) > 0 {
		require.NotEmpty(t, r.Frames, "a streamed reply has times")
		require.Positive(t, r.FirstToken)
		require.Equal(t, r.FirstToken, r.Frames[0])
		require.True(t, slices.IsSorted(r.Frames), "times run backwards: %v", r.Frames)
		require.Less(t, r.Frames[len(r.Frames)-1], patience+time.Second)
	}
	sum := map[providers.DeltaKind]string{}
	var calls []providers.ToolCall
	for _, d := range pieces {
		switch d.Kind {
		case providers.DeltaCall:
			require.Equal(t, len(calls), d.Call, "calls begin in order")
			calls = append(calls, providers.ToolCall{Name: d.Text})
		case providers.DeltaArgs:
			require.Less(t, d.Call, len(calls), "arguments of a call that has not begun")
			calls[d.Call].Args += d.Text
		default:
			sum[d.Kind] += d.Text
		}
	}
	if c.Format == nil || c.Format.Mode != providers.ForcedTool { // whose text is the arguments
		require.Equal(t, r.Text, sum[providers.DeltaText])
	}
	require.Equal(t, r.Reasoning, sum[providers.DeltaReasoning])
	require.Equal(t, r.Refusal, sum[providers.DeltaRefusal])
	require.Len(t, calls, len(r.Calls))
	for i, got := range calls {
		require.Equal(t, r.Calls[i].Name, got.Name)
		if got.Args == "" {
			got.Args = "{}"
		}
		require.Equal(t, r.Calls[i].Args, got.Args)
	}
}

// sameReply demands that two replies are the same except for times and ids. A
// stream may count more than a whole reply does.
func sameReply(t require.TestingT, want, got providers.Reply) {
	if !want.Usage.Reported && got.Usage.Reported {
		require.Equal(t, want.Usage.Output, got.Usage.Output)
		want.Usage, want.RawUsage = got.Usage, got.RawUsage
	}
	require.Equal(t, want.RawUsage == nil, got.RawUsage == nil, "raw usage is there in one of both only")
	require.Equal(t, want.Continuation == nil, got.Continuation == nil, "a continuation is there in one of both only")
	require.Equal(t, want.RequestID == "", got.RequestID == "", "a request id is there in one of both only")
	require.Equal(t, plainReply(want), plainReply(got))
}

// plainReply is a reply without what may differ between whole and streamed.
func plainReply(r providers.Reply) providers.Reply {
	r.RequestID, r.RawUsage, r.Continuation, r.FirstToken, r.Frames = "", nil, nil, 0, nil
	r.Calls = slices.Clone(r.Calls)
	for i := range r.Calls {
		r.Calls[i].ID, r.Calls[i].Args = "", compact(r.Calls[i].Args)
	}
	if strings.HasPrefix(r.Text, "{") { // of a forced tool
		r.Text = compact(r.Text)
	}
	return r
}

// compact writes JSON in one way, with the digits of its numbers as they are.
func compact(s string) string {
	var value any
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return s
	}
	text, _ := json.Marshal(value) // it was JSON
	return string(text)
}
