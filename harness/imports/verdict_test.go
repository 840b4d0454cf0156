package imports

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// of is an episode with a verdict, as a chat.
func of(candidate, task string, solved bool, crashed string) Episode {
	e := Episode{ID: task, Task: task, Candidate: candidate, Crashed: crashed, Verdict: &Verdict{Solved: solved, Harm: new(!solved), HarmReason: "goal reached", Checks: []ledger.Check{{Name: "utility", Passed: solved}}}}
	e.Chat([]Message{{Role: RoleUser, Text: "Do " + task}, {Role: RoleAssistant, Calls: []Proposal{{Name: "f", Args: "{}"}}}, {Role: RoleTool, Text: "7"}, {Role: RoleAssistant, Text: "Seven."}})
	return e
}

// What broke down has no result, except in a run as published, which also has the shared cases only.
func TestVerdicts(t *testing.T) {
	list := func() []Episode {
		return []Episode{
			of("a", "t1", true, ""), of("a", "t2", false, ""), of("a", "t3", false, "HTTP 500"), of("a", "only-a", true, ""), of("a", "only-a2", true, ""),
			of("b", "t1", true, ""), of("b", "t2", false, ""), of("b", "t3", true, ""), of("other", "alone", true, ""),
		}
	}
	for name, c := range map[string]struct {
		asPublished bool
		outcomes    manifest.Outcomes
		notShared   []manifest.Count
		left        map[string]int
	}{
		"by itself":    {false, manifest.Outcomes{Solved: 6, Failed: 2, InfraErrors: 1}, []manifest.Count{{Name: "a", Count: 2}}, nil},
		"as published": {true, manifest.Outcomes{Solved: 4, Failed: 3}, nil, map[string]int{leftUnshared: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, m, r, err := Write(Target{Runs: t.TempDir(), Format: "test", AsPublished: c.asPublished}, reader(Result{}, list()...))
			require.NoError(t, err)
			require.Equal(t, c.outcomes, m.Outcomes)
			require.Equal(t, c.notShared, m.Imported.NotShared)
			require.Equal(t, c.left, r.LeftOut)
			require.Equal(t, []any{1, c.asPublished}, []any{m.Imported.Crashed, m.Imported.AsPublished})
			rows, err := ledger.Read(dir)
			require.NoError(t, err)
			for _, e := range rows.Episodes {
				require.Equal(t, e.InfraError, e.Harm == nil, "%s of %s", e.TaskID, e.Candidate)
				if e.TaskID == "t3" && e.Candidate == "a" {
					require.Equal(t, []any{!c.asPublished, false, "HTTP 500"}, []any{e.InfraError, e.Solved, e.ErrorText})
				}
			}
			for _, turn := range rows.Turns {
				require.Equal(t, turn.TaskID != "t3" || turn.Candidate != "a" || c.asPublished, turn.ContractValid)
			}
		})
	}
}

// A chat has the prompt of each turn once, and a transcript has it whole.
func TestChat(t *testing.T) {
	e := of("a", "t", true, "")
	require.Len(t, e.Turns, 2)
	require.Empty(t, e.Turns[1].Said.Messages)
	dir, m, _, err := Write(Target{Runs: t.TempDir(), Format: "test"}, reader(Result{}, e))
	require.NoError(t, err)
	texts, err := OpenTexts(dir, m)
	require.NoError(t, err)
	defer func() { require.NoError(t, texts.Close()) }()
	_, episodes, err := ledger.Open(dir)
	require.NoError(t, err)
	for rows, err := range episodes {
		require.NoError(t, err)
		traces, err := texts.Traces(rows)
		require.NoError(t, err)
		require.Len(t, traces, 4)
		require.Equal(t, "Do t", traces[2].Call.Messages[0].Text)
		require.Equal(t, "Seven.", traces[3].Finish.Answer)
	}
	var odd Episode
	odd.Chat([]Message{{Role: RoleTool, Text: "nobody asked"}, {Role: RoleAssistant, Text: "A?"}, {Role: RoleUser, Text: "x"}, {Role: RoleAssistant, Calls: []Proposal{{ID: "1", Name: "f", Args: "no"}, {ID: "2", Name: "g"}}}, {Role: RoleTool, CallID: "2", Text: "two"}})
	require.Equal(t, 1, odd.Clarifies)
	require.Equal(t, []Message{{Role: RoleTool, Text: "nobody asked"}}, odd.Turns[0].Said.Messages)
	require.Len(t, odd.Calls, 1)
	require.Equal(t, "g", odd.Calls[0].Name)
	require.Nil(t, odd.Answer)
	require.False(t, wellFormed(&odd.Turns[1].Said))
}

// Long names stay different, and a candidate of several variants is several.
func TestNames(t *testing.T) {
	long := func(end string) string {
		return "a-name-of-a-case-that-is-longer-than-what-a-path-and-a-page-can-hold-" + end
	}
	one, two := of("c", long("1"), true, ""), of("c", long("2"), true, "")
	one.Variant, two.Variant = "terse", "kind"
	_, m, _, err := Write(Target{Runs: t.TempDir(), Format: "test"}, reader(Result{}, one, two))
	require.NoError(t, err)
	require.Len(t, m.Tasks, 2)
	require.Equal(t, []string{"c-kind", "c-terse"}, []string{m.Candidates[1].Name, m.Candidates[0].Name})
}

// An import keeps an entry of an episode in memory, and no text.
func TestManyEpisodesInBoundedMemory(t *testing.T) {
	n := testkit.Long(3_000, 100_000)
	text := strings.Repeat("A long answer. ", 300) // 4.5 KB, 13 MB in all
	var m runtime.MemStats
	live := func() uint64 {
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	base, peak := live(), uint64(0)
	_, _, _, err := Write(Target{Runs: t.TempDir(), Format: "test"}, func(add func(*Episode) error) (Result, error) {
		for i := range n {
			e := of("a", fmt.Sprintf("t%03d", i%100), i%2 == 0, "")
			e.Answer = &text
			if err := add(&e); err != nil {
				return Result{}, err
			}
			if i == n-1 {
				peak = live()
			}
		}
		return Result{}, nil
	})
	require.NoError(t, err)
	require.Less(t, peak-min(peak, base), uint64(2<<20+200*n), "%d episodes", n)
}
