package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// flood is a reply of very many calls.
func flood(n int, name, args string) providers.Reply {
	var r providers.Reply
	for i := range n {
		r.Calls = append(r.Calls, providers.ToolCall{Name: name, Args: strings.ReplaceAll(args, "N", fmt.Sprint(i))})
	}
	return r
}

// TestManyCallsOfATurn: ten thousand are all answered, in a time that grows as they
// do. The best of some turns counts, so that a busy machine does not decide.
func TestManyCallsOfATurn(t *testing.T) {
	const calls, limit = 10_000, time.Second
	for name, r := range map[string]providers.Reply{
		"run or refused": flood(calls, "get_job_status", `{"id":"N"}`),
		"faulty":         flood(calls, "search", `{"q":N}`),
		"the same":       flood(calls, "search", `{"query":"x"}`),
	} {
		t.Run(name, func(t *testing.T) {
			best := time.Hour
			for range 3 {
				start := time.Now()
				answers := rehearseTools(t, Params{}, nil, r).answers()
				best = min(best, time.Since(start))
				require.Len(t, answers, calls)
			}
			require.Less(t, best, limit)
		})
	}
}
