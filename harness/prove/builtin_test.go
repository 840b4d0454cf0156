package prove_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/desk"
	"github.com/cupel-eval/cupel/goldens/flowsim"
	"github.com/cupel-eval/cupel/goldens/instance"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/prove"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/providers/sim"
)

// minScore is the smallest mutation score of a built-in suite.
const minScore = 0.95

var builtin = map[string]struct {
	files  fs.FS
	worlds map[string]world.Kind
}{"counts": {counts.FS, counts.Worlds()}, "research": {research.FS, research.Worlds()}, "desk": {desk.FS, nil}, "instance": {instance.FS, flowsim.Worlds()}}

// options returns options that prove a built-in suite, with the simulated models in
// process.
func options(t testing.TB, name string) prove.Options {
	t.Helper()
	suite, err := load.Suite(builtin[name].files, name, builtin[name].worlds)
	require.NoError(t, err)
	book, err := load.Playbook(suite)
	require.NoError(t, err)
	prices, err := price.Default()
	require.NoError(t, err)
	models := testkit.Handled(sim.Handler(sim.Config{Seed: 1, Books: []*playbook.Book{book}}))
	return prove.Options{Book: book, Run: harness.Options{
		Matrix: harness.Matrix{Suite: suite},
		Rules:  harness.Rules{Policy: policy.Default(), Prices: prices},
		Parts: harness.Parts{
			Providers: all.Factories(),
			Transport: func(string) http.RoundTripper { return models },
		},
	}}
}

// Every task of the built-in suites accepts its solution under every strategy, and none
// accepts an agent that does nothing. At least 95% of the mutants are refused.
func TestBuiltinSuites(t *testing.T) {
	for name := range builtin {
		t.Run(name, func(t *testing.T) {
			if name != "desk" { // it is the sample
				testkit.Slow(t)
			}
			r, err := prove.Suite(t.Context(), options(t, name))
			require.NoError(t, err)
			for _, task := range r.Tasks {
				for _, m := range task.Survivors {
					t.Logf("%s; refused by: %s", m.Says, m.Check)
				}
			}
			require.Empty(t, r.Failures(minScore))
			require.Greater(t, r.Mutants, 5*len(r.Tasks))
		})
	}
}

// Two proofs of a suite have the same result.
func TestDeterministic(t *testing.T) {
	first, err := prove.Suite(t.Context(), options(t, "counts"))
	require.NoError(t, err)
	done := 0
	o := options(t, "counts")
	o.Progress = func(n, total int) {
		done++
		require.Equal(t, fmt.Sprint(done, " of 100"), fmt.Sprint(n, " of ", total))
	}
	second, err := prove.Suite(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Equal(t, 100, done)
}

// BenchmarkSuite proves counts, which must take less than five seconds.
func BenchmarkSuite(b *testing.B) {
	o := options(b, "counts")
	for b.Loop() {
		_, err := prove.Suite(b.Context(), o)
		require.NoError(b, err)
	}
}
