package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/stretchr/testify/require"
)

func sampleManifest() Manifest {
	return Manifest{
		Format: Format, RunID: "20260601T080000-6f1c2a", Status: "complete", Mode: "replay", Simulated: true, Suite: "counts",
		SuitePath: "builtin:counts", SuiteDigest: "aa", ConfigDigest: "bb", PriceDigest: "cc", PriceVersion: "2026-05-01",
		LedgerDigest: "dd", CodeVersion: "v1.2.3", Seed: -1 << 63, Trials: 3,
		Candidates: []Candidate{{Name: "sim & <co>", Agent: "contract", Provider: "sim", Model: "m", Simulated: true}},
		Tasks:      []Task{{ID: "t1", Title: "Zähle 件", Tier: "easy", Tags: []string{"x"}, Request: "wie viele?", RequestDigest: "r", WorldDigest: "w", ToolsDigest: "t", ChecksDigest: "c"}},
		Episodes:   3, Turns: 9, ToolCalls: 6, Acceptance: Acceptance{}.Resolved(),
	}
}

func TestManifestRoundTrip(t *testing.T) {
	dir, m := t.TempDir(), sampleManifest()
	require.NoError(t, Write(dir, m))
	got, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, m, got)

	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "{\n  \"format\": 3,\n  \"run_id\": "), "%s", text)
	require.True(t, strings.HasSuffix(string(text), "\n}\n"), "%s", text)
	require.Contains(t, string(text), "sim & <co>")
	require.NoError(t, Write(dir, got))
	again, err := os.ReadFile(filepath.Join(dir, "run.json"))
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
}

// Valid values of a run in rounds read back unchanged; invalid ones are rejected.
func TestManifestDecide(t *testing.T) {
	dir, m := t.TempDir(), sampleManifest()
	stops := []Stop{{Candidate: "sim & <co>", Round: 2, Verdict: "pass", Reason: "meets all criteria"}}
	m.Decide = &Decide{Rounds: []int{1, 3, 5}, Baselines: []string{"b"}, RulesDigest: "dd", Finished: 2, Stops: stops}
	require.NoError(t, Write(dir, m))
	got, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, m, got)

	rounds := map[int]int{}
	for trial := range 7 {
		rounds[trial] = m.Decide.Round(trial)
	}
	require.Equal(t, map[int]int{0: 0, 1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 0}, rounds)
	require.Equal(t, [2]int{2, 3}, [2]int{m.Decide.Look("sim & <co>"), m.TrialsOf("sim & <co>")})
	m.Decide.Finished = 3
	require.Equal(t, [2]int{3, 5}, [2]int{m.Decide.Look("other"), m.TrialsOf("other")}, "undecided after the last round")
	m.Decide.Finished, m.Decide.Stops = 0, nil
	require.Equal(t, [2]int{1, 1}, [2]int{m.Decide.Look("other"), m.TrialsOf("other")}, "before the first")
	m.Decide = nil
	require.Equal(t, 3, m.TrialsOf("other"))

	for want, d := range map[string]Decide{
		"decide.rounds: 0 rounds":                             {},
		"decide.rounds: 3 follows 3":                          {Rounds: []int{3, 3}},
		"decide.rounds: 0 follows 0":                          {Rounds: []int{0}},
		"decide.finished: 3 of 2 rounds":                      {Rounds: []int{1, 2}, Finished: 3},
		"decide.stops[0]: round 2, and 1 rounds are finished": {Rounds: []int{1, 2}, Finished: 1, Stops: stops},
		"decide.rounds: 101 rounds; there must be 1 to 100":   {Rounds: numbers(101)},
	} {
		m.Decide = &d
		require.NoError(t, Write(dir, m))
		_, err := Read(dir)
		require.ErrorContains(t, err, want)
	}
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

func TestManifestRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, sampleManifest()))
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	require.NoError(t, err)
	text := string(data)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"later format with unknown members", `{"format": 4, "runs": []}`, []string{"format version 4", "reads version 3", "code_version"}},
		{"no format", `{}`, []string{"format version 0"}},
		{"unknown member", strings.Replace(text, `"run_id"`, `"extra": 1, "run_id"`, 1), []string{"extra"}},
		{"wrong case", strings.Replace(text, `"run_id"`, `"Run_ID"`, 1), []string{"Run_ID"}},
		{"repeated member", strings.Replace(text, `"run_id"`, `"run_id": "a", "run_id"`, 1), []string{"run_id"}},
		{"trailing data", text + "{}", []string{"after top-level value"}},
		{"wrong type", strings.Replace(text, `"trials": 3`, `"trials": "3"`, 1), []string{"/trials"}},
		{"cut short", text[:len(text)/2], []string{"EOF"}},
		{"empty", "", []string{"EOF"}},
		{"threshold out of range", strings.Replace(text, `"min_valid": 0.95`, `"min_valid": 95`, 1), []string{"min_valid is 95"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NotEqual(t, text, tt.text)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(resealedManifest(tt.text)), 0o644))
			_, err := Read(dir)
			require.ErrorContains(t, err, "run.json")
			require.ErrorAs(t, err, new(*sealed.CorruptError))
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
	_, err = Read(filepath.Join(dir, "absent"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorAs(t, err, new(*sealed.CorruptError))
	require.ErrorContains(t, err, "run.json: missing; restore the run folder")
	require.ErrorContains(t, Write(dir, Manifest{}), "format 0, must be 3")
}

// resealedManifest adds a valid seal to a changed text.
func resealedManifest(text string) string {
	body, _, ok := strings.Cut(text, "  \"seal\": ")
	if !ok {
		return text
	}
	_, rest, _ := strings.Cut(text[len(body):], "\n}\n")
	return body + manifestSeal(sealed.Of([]byte(body))) + rest
}

// Every flipped bit of run.json and every truncation is rejected.
func TestEveryChangeIsRefused(t *testing.T) {
	text, err := Encode(sampleManifest())
	require.NoError(t, err)
	for bit := range 8 * len(text) {
		changed := slices.Clone(text)
		changed[bit/8] ^= 1 << (bit % 8)
		_, err := decode(changed)
		require.Error(t, err, "bit %d", bit)
	}
	for n := range len(text) {
		_, err := decode(text[:n])
		require.Error(t, err, "cut at %d", n)
	}
}

// A file that cannot be read is not reported as corrupt.
func TestUnreadableIsNotCorrupt(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "run.json"), 0o777))
	_, err := Read(dir)
	require.ErrorContains(t, err, "run.json: a folder, not a regular file")
	require.NoError(t, os.Remove(filepath.Join(dir, "run.json")))
	require.NoError(t, Write(dir, sampleManifest()))
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "run.json"), 0))
	_, err = Read(dir)
	require.ErrorIs(t, err, fs.ErrPermission)
	require.NotErrorAs(t, err, new(*sealed.CorruptError))
}

func TestManifestIsBounded(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "run.json"))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(maxManifest+1)) // sparse
	require.NoError(t, f.Close())
	_, err = Read(dir)
	require.ErrorContains(t, err, "more than 67108864")
}

func FuzzManifest(f *testing.F) {
	f.Add("{\n  \"format\": 3,\"acceptance\":{\"min_valid\":0.5},\n")
	f.Add(`{"format":4,`)
	f.Fuzz(func(t *testing.T, body string) {
		m, err := decode([]byte(body + manifestSeal(sealed.Of([]byte(body)))))
		if err != nil {
			return
		}
		require.Equal(t, Format, m.Format)
		dir := t.TempDir()
		require.NoError(t, Write(dir, m))
		got, err := Read(dir)
		require.NoError(t, err)
		require.Equal(t, m.Acceptance, got.Acceptance)
	})
}
