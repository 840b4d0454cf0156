package sides

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
)

func TestPairUp(t *testing.T) {
	side := func(dir string, chosen bool, names ...string) Side {
		return Side{Dir: dir, Manifest: manifest.Manifest{RunID: "RUN-" + filepath.Base(dir)}, Names: names, Chosen: chosen}
	}
	a, b := t.TempDir(), t.TempDir()
	for name, c := range map[string]struct {
		baseline, newRun Side
		want             []compare.Names
		problem          string
	}{
		"of one name":                   {side(a, false, "x", "y", "z"), side(b, false, "z", "x"), []compare.Names{{Baseline: "z", New: "z"}, {Baseline: "x", New: "x"}}, ""},
		"one each":                      {side(a, false, "x"), side(b, false, "y"), []compare.Names{{Baseline: "x", New: "y"}}, ""},
		"both chosen":                   {side(a, true, "x"), side(b, true, "y"), []compare.Names{{Baseline: "x", New: "y"}}, ""},
		"one chosen":                    {side(a, false, "x", "y"), side(b, true, "y"), []compare.Names{{Baseline: "y", New: "y"}}, ""},
		"chosen, of no name there":      {side(a, false, "x", "y"), side(b, true, "z"), nil, `RUN-001 has no candidate "z"; it has: x, y; name one of them`},
		"several chosen, one missing":   {side(a, false, "x", "y"), side(b, true, "x", "z"), nil, `has no candidate "z"`},
		"none in common":                {side(a, false, "x", "y"), side(b, false, "z"), nil, "no candidate is in both runs"},
		"nobody":                        {side(a, false), side(b, false, "z"), nil, "RUN-001 has none"},
		"itself, two candidates":        {side(a, true, "x"), side(a, true, "y"), []compare.Names{{Baseline: "x", New: "y"}}, ""},
		"itself":                        {side(a, false, "x", "y"), side(a, false, "x", "y"), nil, "with itself; name two of its candidates, as in RUN:x RUN:OTHER; it has: x, y"},
		"itself, one candidate":         {side(a, true, "x"), side(a, true, "x"), nil, "with itself"},
		"the same elsewhere is another": {side(a, false, "x"), side(b, false, "x"), []compare.Names{{Baseline: "x", New: "x"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := pairUp(c.baseline, c.newRun)
			require.Equal(t, c.want, got)
			if c.problem == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.problem)
			require.Equal(t, exit.BadUsage, exit.Code(err))
		})
	}
}

func TestRunCandidate(t *testing.T) {
	for text, want := range map[string][]string{
		"latest": nil, "latest:weak": {"latest", "weak"}, "runs/01K:strong.fork-weak-1-1": {"runs/01K", "strong.fork-weak-1-1"},
		`C:\runs\01K`: nil, `C:\runs\01K:weak`: {`C:\runs\01K`, "weak"}, "a:b:c": {"a:b", "c"}, "latest:": nil, ":weak": nil, "latest:Weak": {"latest", "Weak"}, "latest:w eak": nil,
	} {
		var got []string
		if m := runCandidate.FindStringSubmatch(text); m != nil {
			got = m[1:]
		}
		require.Equal(t, want, got, text)
	}
}

// The error names everything that makes a comparison misleading, and the alternatives.
func TestRefuse(t *testing.T) {
	b := Side{Dir: "runs/B", Manifest: manifest.Manifest{RunID: "B", Tasks: []manifest.Task{{ID: "G01"}}}}
	d := []compare.Difference{
		{What: "model", Where: "strong", Baseline: "m", New: "n"},
		{What: "checks", Where: "G01, G02", Baseline: "as it was", New: "changed", Misleads: true},
		{What: "world", Where: "G02", Baseline: "as it was", New: "changed", Misleads: true},
	}
	require.EqualError(t, refuse(b, b, d, compare.Refuse), `these tasks changed since run B, so a different outcome may not be caused by the candidate:
  G01, G02: checks changed
  G02: world changed
leave them out with --changed skip, or compare them anyway with --changed keep`)
	require.ErrorContains(t, refuse(b, b, d[:2], compare.Refuse), "\nor score the baseline with the current checks: cupel rescore runs/B")
	require.ErrorContains(t, refuse(b, b, []compare.Difference{{What: "request", Where: "G01", Baseline: "How many?", New: "How few?", Misleads: true}}, compare.Refuse), `  G01: request changed to "How few?"`)
	for _, changed := range []compare.Changed{compare.Skip, compare.Keep} {
		require.NoError(t, refuse(b, b, d, changed))
	}
	require.NoError(t, refuse(b, b, d[:1], compare.Refuse))
	err := refuse(b, Side{Manifest: manifest.Manifest{RunID: "T", Tasks: []manifest.Task{{ID: "X"}}}}, nil, compare.Keep)
	require.ErrorContains(t, err, "nothing to compare: no task is in both B")
	require.Equal(t, exit.BadUsage, exit.Code(err))
}
