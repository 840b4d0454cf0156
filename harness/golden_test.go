package harness_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers/all"
)

// fakeT is a test runner that stores the log.
type fakeT struct {
	name   string
	log    *[]string
	failed *bool
}

func newFakeT() fakeT { return fakeT{log: new([]string), failed: new(bool)} }

func (t fakeT) Helper() {}
func (t fakeT) Errorf(format string, args ...any) {
	*t.failed = true
	*t.log = append(*t.log, t.name+": "+fmt.Sprintf(format, args...))
}
func (t fakeT) Fatalf(format string, args ...any) { t.Errorf("fatal: "+format, args...) }
func (t fakeT) Run(name string, f func(fakeT)) bool {
	sub := fakeT{name: strings.TrimPrefix(t.name+"/"+name, "/"), log: t.log, failed: new(bool)}
	f(sub)
	*t.failed = *t.failed || *sub.failed
	return !*sub.failed
}

func TestGoldenFailurePrintsCheckAndTranscript(t *testing.T) {
	fake := newFakeT()
	harness.Test(fake, harness.Params{
		Loaded: countsSuite(t), Providers: all.Factories(),
		Select: harness.Selection{Tasks: []string{"G03", "G04"}, Candidates: []string{"weak"}},
	})
	require.True(t, *fake.failed)
	require.Len(t, *fake.log, 1, "G03 passes, G04 fails")
	text := (*fake.log)[0]
	require.True(t, strings.HasPrefix(text, "G04/weak/1: check "), text)
	require.Contains(t, text, "USER_REQUEST:")
	require.Contains(t, text, "── end: ")
}

// CI runners interpret commands in logs, so the text of a model or a suite must not be one.
func TestGoldenFailurePrintsNoRunnerCommand(t *testing.T) {
	const hostile = "\n::error::owned ##[error]owned ##vso[task.complete]owned \x1b[0K"
	suite := countsSuite(t)
	suite.Tasks = slices.Clone(suite.Tasks)
	for i, task := range suite.Tasks {
		if task.Scripted && len(task.Script) > 0 {
			suite.Tasks[i].Request += hostile
			suite.Tasks[i].Script = []goldens.Emit{{Text: hostile}}
		}
	}
	fake := newFakeT()
	harness.Test(fake, harness.Params{Loaded: suite, Providers: all.Factories(), Select: harness.Selection{Candidates: []string{"scripted"}}})
	text := strings.Join(*fake.log, "\n")
	require.Greater(t, strings.Count(text, "owned"), 10)
	for _, command := range []string{"##[", "##vso[", "\x1b"} {
		require.NotContains(t, text, command)
	}
	require.NotRegexp(t, `(?m)^\s*::`, text)
}

func TestGoldenMissingCassetteNamesTheCommand(t *testing.T) {
	fake := newFakeT()
	suite := countsSuite(t)
	suite.Candidates = append(suite.Candidates[:0:0], suite.Candidates[0])
	suite.Candidates[0].Name = "newcomer"
	harness.Test(fake, harness.Params{
		Loaded: suite, Providers: all.Factories(), Select: harness.Selection{Tasks: []string{"G03"}, Candidates: []string{"newcomer"}},
	})
	require.Len(t, *fake.log, 1)
	require.Contains(t, (*fake.log)[0], "cassette_missing")
	require.Contains(t, (*fake.log)[0], "go test -args -cupel.record='^G03/newcomer/1$'")
}

func TestGoldenBadParams(t *testing.T) {
	for name, tt := range map[string]struct {
		params harness.Params
		want   string
	}{
		"no such suite": {harness.Params{Suite: "testdata/nowhere"}, "suite.yaml"},
		"no providers":  {harness.Params{Loaded: countsSuite(t)}, `unknown provider "sim-openai"`},
		"no such task":  {harness.Params{Loaded: countsSuite(t), Providers: all.Factories(), Select: harness.Selection{Tasks: []string{"X*"}}}, `no task matches "X*"`},
	} {
		t.Run(name, func(t *testing.T) {
			fake := newFakeT()
			harness.Test(fake, tt.params)
			require.Len(t, *fake.log, 1)
			require.Contains(t, (*fake.log)[0], tt.want)
		})
	}
}
