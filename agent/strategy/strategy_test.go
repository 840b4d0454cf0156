package strategy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestInfo(t *testing.T) {
	require.Equal(t, []string{"contract", "tools", "plan", "orchestrator", "external"}, Names())
	require.Equal(t, Contract, Of("").Name)
	for _, name := range Names() {
		s := Of(name)
		require.True(t, s.BuiltIn())
		require.NoError(t, s.CheckProfile(""))
		require.NoError(t, s.CheckProfile(Seed), "seed names the default of every strategy")
		for _, profile := range s.Profiles {
			require.NoError(t, s.CheckProfile(profile))
		}
		require.Error(t, s.CheckProfile("no such profile"))
		for _, setting := range s.Settings {
			require.Empty(t, s.Lacks(setting))
		}
	}
	own := Of("own")
	require.False(t, own.BuiltIn())
	require.Equal(t, Seed, own.DefaultProfile())
	require.NoError(t, own.CheckProfile("any"))
	require.Empty(t, own.Lacks("batch"))
	require.Equal(t, "agent contract has no such setting; it is a setting of tools, plan and orchestrator", Of(Contract).Lacks("system"))
}

func TestFaults(t *testing.T) {
	require.Empty(t, MaxIterations.Fault(0))
	require.Empty(t, MaxIterations.Fault(1000))
	require.Equal(t, "must be from 0 to 1000, but is 1001", MaxIterations.Fault(1001))
	require.Equal(t, "must be from 0 to 10, but is -1", FinalRetries.Fault(-1))
	require.Empty(t, Batch{Size: 100, Delay: time.Hour}.Faults())
	require.Equal(t, []string{"size must be from 0 to 100, but is 101", "delay must be at most 1h0m0s, in whole microseconds, but is 1ns"}, Batch{Size: 101, Delay: 1}.Faults())
	require.Empty(t, PlanBounds{Attempts: 20, Steps: 1000, Concurrency: 100, ContextTokens: 10_000_000}.Faults())
	require.Equal(t, []string{"attempts must be from 0 to 20, but is 21", "context_tokens must be from 0 to 10000000, but is -1"}, PlanBounds{Attempts: 21, ContextTokens: -1}.Faults())
	for _, r := range []Range{MaxIterations, FinalRetries, BatchSize, PlanAttempts, PlanSteps, PlanConcurrency, PlanContextTokens} {
		require.Empty(t, r.Fault(r.Default))
	}
}
