package providertest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// chaosCases makes two cases of each misbehaviour.
func (s Served) chaosCases() []trialCase {
	var cases []trialCase
	for _, c := range s.Chaos {
		name := "chaos " + c.Name
		cases = append(cases,
			trialCase{name, func(t require.TestingT, b *bench) { testOneChaos(t, b, c, false) }},
			trialCase{name + twin, func(t require.TestingT, b *bench) { testOneChaos(t, b, c, true) }})
	}
	return cases
}

// testOneChaos makes a call that meets c: the reply is as without it, or the error is
// of the right kind and nothing is lost of what came.
func testOneChaos(t require.TestingT, b *bench, c Chaos, stream bool) {
	long := slices.Repeat([]string{sayProse()}, 6) // many frames of any wire
	ask := using(append(long, `call get_weather `+oddArgs)...)
	if b.Skip["tool call"] != "" {
		ask = saying(long...)
	}
	ask.Stream = stream
	calm, _, err := b.call(background, b.wire(t, nil), ask)
	require.NoError(t, err)

	allowed := c.Whole
	if stream {
		allowed = c.Stream
	}
	limit := patience
	if slices.Contains(allowed, fault.TimedOut) {
		limit = 200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(background, limit)
	defer cancel()
	m := b.wire(t, func(o *providers.Options) { o.Header = map[string]string{b.ChaosHeader: c.Name} })
	got, pieces, err := b.call(ctx, m, ask)
	if len(allowed) == 0 {
		require.NoError(t, err)
		if stream {
			requireStream(t, got, pieces, ask)
		}
		sameReply(t, calm, got)
	} else {
		e := requireError(t, b, err, allowed...)
		requireNothingLost(t, calm, got, e)
		if c.Wait > 0 {
			require.Equal(t, c.Wait, e.RetryAfter)
		}
		if c.Paid && !stream {
			require.True(t, calm.Usage.Reported)
			require.Equal(t, calm.Usage, got.Usage, "the usage is lost")
		}
		require.NotContains(t, e.Message, "\n")
	}
	// A server that dropped the connection may still be at it.
	require.Eventually(t, func() bool { return b.made() == 2 }, 2*time.Second, time.Millisecond)
	require.Equal(t, c.Name, b.last(t).chaos, "the server did not misbehave")
}

// requireNothingLost demands that a failed reply is a beginning of the calm one.
func requireNothingLost(t require.TestingT, calm, got providers.Reply, e *fault.Error) {
	require.Equal(t, e.Status, got.Status)
	require.True(t, strings.HasPrefix(calm.Text, got.Text), "%q is no beginning of %q", got.Text, calm.Text)
	require.True(t, strings.HasPrefix(calm.Reasoning, got.Reasoning))
	require.LessOrEqual(t, len(got.Calls), len(calm.Calls))
	for i, call := range got.Calls {
		require.Equal(t, calm.Calls[i].Name, call.Name)
		if call.Args != "{}" { // of none
			require.True(t, strings.HasPrefix(calm.Calls[i].Args, call.Args), "%s is no beginning of %s", call.Args, calm.Calls[i].Args)
		}
	}
	require.Equal(t, e.Partial, got.Text != "" || got.Reasoning != "" || len(got.Calls) > 0, "partial is told wrongly")
	if e.Partial {
		require.Equal(t, http.StatusOK, e.Status)
		require.Equal(t, calm.RequestID == "", got.RequestID == "", "the request id is lost")
	}
	if got.Usage.Input != 0 { // of wires that report it at the start
		require.Equal(t, calm.Usage.Input, got.Usage.Input)
	}
	retryable := []fault.Kind{fault.RateLimit, fault.Overloaded, fault.TimedOut, fault.Transport}
	if !slices.Contains(retryable, e.Kind) {
		require.False(t, e.Retryable())
	}
}
