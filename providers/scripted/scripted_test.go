package scripted_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/providertest"
	"github.com/cupel-eval/cupel/providers/scripted"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Subject{
		Model: func(a providertest.Answer) providers.Model {
			steps := make([]scripted.Step, 16)
			for i := range steps {
				steps[i] = scripted.Step{Text: cmp.Or(append(a.Args, a.Text)...), Usage: a.Usage, Finish: a.Finish}
			}
			return scripted.New(steps)
		},
	})
}

func TestStepsAreGivenOnceInOrder(t *testing.T) {
	m := scripted.New([]scripted.Step{{Text: "one"}, {Text: "two"}})
	for _, want := range []string{"one", "two"} {
		got, err := m.Call(context.Background(), providers.Call{Model: "m"})
		require.NoError(t, err)
		require.Equal(t, providers.Reply{Text: want, Model: "m", Finish: providers.FinishStop, FinishRaw: "stop"}, got)
	}
	for n := 3; n <= 4; n++ {
		_, err := m.Call(context.Background(), providers.Call{Model: "m"})
		var e *fault.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, fault.NotFound, e.Kind)
		require.Contains(t, err.Error(), "2 steps")
	}
}

func TestUnexpectedCalls(t *testing.T) {
	cause := errors.New("prompt lacks the word please")
	m := scripted.New([]scripted.Step{
		{Text: "a", WantModel: "strong"},
		{Text: "b", Check: func(c providers.Call) error {
			if c.System != "please" {
				return cause
			}
			return nil
		}},
		{Text: "c", WantModel: "m", Check: func(providers.Call) error { return nil }},
	})
	for _, want := range []string{"step 1 is for model strong", "prompt lacks the word please"} {
		_, err := m.Call(context.Background(), providers.Call{Model: "m"})
		var e *fault.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, fault.InvalidRequest, e.Kind)
		require.Contains(t, err.Error(), want)
		require.Equal(t, "m", e.Model)
	}
	got, err := m.Call(context.Background(), providers.Call{Model: "m"})
	require.NoError(t, err)
	require.Equal(t, "c", got.Text)
}

func TestDeadlineIsATimeout(t *testing.T) {
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	m := scripted.New([]scripted.Step{{Text: "kept"}})
	_, err := m.Call(ctx, providers.Call{})
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.TimedOut, e.Kind)
	got, err := m.Call(context.Background(), providers.Call{})
	require.NoError(t, err)
	require.Equal(t, "kept", got.Text, "a call that was never made uses up no step")
}
