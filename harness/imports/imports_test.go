package imports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
)

const key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"

// sample has an episode with texts, another trial of it, and one of which little is known.
func sample() (Result, []Episode) {
	full := func(id string, start int64) Episode {
		return Episode{
			ID: id, Candidate: "my agent/1", Provider: "openai", Model: "m", Request: new("How many? " + key), Answer: new("Seven."), Start: start, End: start + 9,
			Turns: []Turn{
				{Start: start, End: start + 2, Tokens: ledger.Tokens{In: new(int64(10)), Out: new(int64(2))}, Finish: "tool_use", Said: Said{
					System: "Be brief.", Messages: []Message{{Role: "user", Text: "How many?"}}, Calls: []Proposal{{ID: "c", Name: "count", Args: `{"a": 1}`}}}},
				{Start: start + 5, End: start + 9, Tokens: ledger.Tokens{In: new(int64(20))}, Finish: "end_turn", Said: Said{Output: new("Seven.")}},
			},
			Calls: []Call{{Turn: 1, Proposed: true, Name: "count", Start: start + 2, End: start + 4, Args: new(`{"a": 1}`), Result: new("7")}},
		}
	}
	return Result{Version: "v", LeftOut: map[string]int{"span x": 2}}, []Episode{
		full("b", 2_000_000), full("a", 1_000_000),
		{ID: "c", Model: "m2", Candidate: "my agent/1", Start: 5, End: 6, Failed: "out of memory", Turns: []Turn{{Start: 5, End: 6, Failed: "HTTP 500"}}, Calls: []Call{{Name: "f", Start: 5, End: 6, Failed: "no"}}},
	}
}

// reader hands over episodes.
func reader(r Result, list ...Episode) func(func(*Episode) error) (Result, error) {
	return func(add func(*Episode) error) (Result, error) {
		for i := range list {
			if err := add(&list[i]); err != nil {
				return Result{}, err
			}
		}
		return r, nil
	}
}

func written(t *testing.T) (dir string, m manifest.Manifest) {
	t.Helper()
	r, list := sample()
	dir, m, _, err := Write(Target{Runs: t.TempDir(), Format: "test", Files: []File{{Source: manifest.SourceFile{Name: "f", Bytes: 3, Digest: "d"}}}}, reader(r, list...))
	require.NoError(t, err)
	return dir, m
}

func TestWrite(t *testing.T) {
	dir, m := written(t)
	require.Equal(t, manifest.Outcomes{NotScored: 3}, m.Outcomes)
	require.Equal(t, 3, m.Outcomes.WithoutResult())
	require.Equal(t, "imported", m.Mode)
	require.Equal(t, []manifest.SourceFile{{Name: "f", Bytes: 3, Digest: "d"}}, m.Imported.Sources)
	require.Equal(t, []manifest.Count{{Name: "span x", Count: 2}}, m.Imported.LeftOut)
	rows, err := ledger.Read(dir)
	require.NoError(t, err)
	require.Len(t, rows.Episodes, 3)
	by := map[string]ledger.Episode{}
	for _, e := range rows.Episodes {
		by[e.Candidate] = e
		require.Equal(t, manifest.NotScored, e.Excluded())
		require.False(t, e.Solved)
	}
	last, unknown := by["my-agent-1-m"], by["my-agent-1-m2"]
	require.EqualValues(t, 2, last.Trial, "equal requests are trials of one task")
	require.EqualValues(t, 30, *last.In)
	require.Nil(t, last.Out, "one unknown makes the sum unknown")
	require.Nil(t, last.CostNanoUSD)
	require.Equal(t, "agent_failed", unknown.StopReason)
	require.Equal(t, "out of memory", unknown.ErrorText)
	for _, turn := range rows.Turns {
		if turn.Candidate == unknown.Candidate {
			require.Nil(t, turn.In)
			require.Equal(t, kindFailed, turn.ErrorKind)
		} else if turn.Turn == 1 {
			require.Equal(t, "tool_calls", turn.FinishReason)
		}
	}
	for _, c := range rows.ToolCalls {
		require.Equal(t, []bool{c.ToolName == "count", true}, []bool{c.Proposed, c.Executed})
	}
	for _, name := range []string{manifest.File, TextsFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NotContains(t, string(text), key)
	}

	r, list := sample()
	again, m2, _, err := Write(Target{Runs: filepath.Dir(dir), Format: "test", Files: []File{{Source: manifest.SourceFile{Name: "f", Bytes: 3, Digest: "d"}}}}, reader(r, list...))
	require.NoError(t, err)
	require.Equal(t, dir, again, "the same source is the same run")
	require.Equal(t, m, m2)
}

func TestTraces(t *testing.T) {
	dir, m := written(t)
	texts, err := OpenTexts(dir, m)
	require.NoError(t, err)
	defer func() { require.NoError(t, texts.Close()) }()
	_, episodes, err := ledger.Open(dir)
	require.NoError(t, err)
	var said []string
	for rows, err := range episodes {
		require.NoError(t, err)
		traces, err := texts.Traces(rows)
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, episode.WriteTranscript(&b, traces))
		said = append(said, b.String())
		end := traces[len(traces)-1]
		require.Len(t, end.Outcome.Calls, len(rows.ToolCalls))
		if rows.Episode.StopReason != "" {
			require.Equal(t, tool.Error, end.Outcome.Calls[0].Outcome)
		}
	}
	all := strings.Join(said, "")
	for _, want := range []string{"Be brief.", "How many?", "call c of count", `tool count {"a": 1} → ok`, "│ 7", "Seven.", "HTTP 500", "tool f " + unknown, "agent_failed", unknown} {
		require.Contains(t, all, want)
	}
}

// Texts that were changed, cut or taken from another run are refused.
func TestTextsAreSealed(t *testing.T) {
	dir, m := written(t)
	path := filepath.Join(dir, TextsFile)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	corrupt := new(sealed.CorruptError)
	for _, bad := range []string{strings.Replace(string(text), "Seven", "Eight", 1), string(text[:len(text)/2]), ""} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		_, err := OpenTexts(dir, m)
		require.ErrorAs(t, err, &corrupt)
	}
	require.NoError(t, os.WriteFile(path, text, 0o600))
	m.Imported.Texts = strings.Repeat("0", 64)
	_, err = OpenTexts(dir, m)
	require.ErrorContains(t, err, "does not belong to the run.json")
}

func TestNothingToImport(t *testing.T) {
	_, _, _, err := Write(Target{Runs: t.TempDir()}, reader(Result{}))
	require.ErrorContains(t, err, "no episode that cupel knows")
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.json": "2", "a.json": "1", "twice.json": "1", "notes.txt": "x", "sub/c.pb": "3"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	files, err := Files([]string{dir}, []string{".json", ".pb"})
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.Source.Name)
	}
	require.Equal(t, []string{"a.json", "b.json", "c.pb"}, names)
	_, err = Files([]string{dir}, []string{".x"})
	require.ErrorContains(t, err, "has no file that ends in")
	_, err = Files([]string{filepath.Join(dir, "none")}, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}
