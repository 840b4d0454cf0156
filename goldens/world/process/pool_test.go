package process

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/world"
)

// pid is the process of a world whose command answers calls with it.
func pid(t *testing.T, w world.World) string {
	t.Helper()
	got, err := w.Call(t.Context(), call("pid", ""), begin.Now)
	require.NoError(t, err)
	return string(got.Value)
}

// A process answers for worlds with the same beginning, one after another. A beginning that no new
// process has answered, and a world beside another, get a new one.
func TestPool(t *testing.T) {
	k := AsWorld("pid")
	k.Pool = &Pool{}
	defer k.Pool.Close()
	add := func(w world.World) string {
		_, err := w.Call(t.Context(), call("add", `{"by": 2}`), begin.Now)
		require.NoError(t, err)
		state, err := w.State(t.Context())
		require.NoError(t, err)
		return string(state)
	}
	first := open(t, k)
	one, state := pid(t, first), add(first)
	beside := open(t, k)
	require.NotEqual(t, one, pid(t, beside), "its process is still in use")
	require.NoError(t, beside.Close())
	require.NoError(t, first.Close())

	again := open(t, k)
	require.Equal(t, one, pid(t, again))
	require.Equal(t, state, add(again), "it began again")
	require.NoError(t, again.Close())

	start := begin
	start.Seed++
	other, err := k.Open(t.Context(), start)
	require.NoError(t, err)
	require.NotEqual(t, one, pid(t, other))
	require.NoError(t, other.Close())

	var many sync.WaitGroup
	for range 8 {
		many.Go(func() {
			w, err := k.Open(t.Context(), begin)
			if err == nil {
				_, err = w.Call(t.Context(), call("pid", ""), begin.Now)
			}
			if err != nil || w.Close() != nil {
				t.Error(err)
			}
		})
	}
	many.Wait()
}

// A command whose reset keeps something of the episode before gets a new process for each world, so
// its worlds are those of runs.
func TestPoolOfLeakingCommand(t *testing.T) {
	k := AsWorld("keeps")
	k.Pool = &Pool{}
	defer k.Pool.Close()
	seen := map[string]bool{}
	for range 4 {
		w := open(t, k)
		seen[pid(t, w)] = true
		got, err := w.Call(t.Context(), call("add", `{"by": 2}`), begin.Now)
		require.NoError(t, err)
		require.JSONEq(t, `{"n":7,"now":"2026-05-13T12:00:00-04:00","text":"<a> & b"}`, string(got.Value))
		require.NoError(t, w.Close())
	}
	require.Len(t, seen, 4)
	require.Len(t, k.Pool.once, 1)

	broken := AsWorld("exits")
	broken.Pool = k.Pool
	_, err := broken.Open(t.Context(), begin)
	require.ErrorContains(t, err, "no module named world")
	stateless := AsWorld("too large")
	stateless.Pool = k.Pool
	w := open(t, stateless)
	_, err = w.State(t.Context())
	require.ErrorContains(t, err, "wrote a line of more than 16 MiB in answer to state")
}
