package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// The two latest runs are determined by the modification times of their manifests.
func TestFindRunByAge(t *testing.T) {
	runs := t.TempDir()
	_, err := Find(runs, "latest")
	require.ErrorContains(t, err, "no run")
	for i, id := range []string{"B", "C", "A"} {
		file := filepath.Join(runs, id, "run.json")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, nil, 0o644))
		at := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		require.NoError(t, os.Chtimes(file, at, at))
		_, err := Find(runs, "previous")
		require.Equal(t, i == 0, err != nil)
	}
	for name, want := range map[string]string{"latest": "A", "previous": "C", "B": "B"} {
		dir, err := Find(runs, name)
		require.NoError(t, err)
		require.Equal(t, want, filepath.Base(dir))
	}
}

// The latest and the previous run have the same suite, and are complete if any run is.
func TestFindSkipsPartialRuns(t *testing.T) {
	const whole, part, shard, fork, other, damaged = "", "part", "shard", "fork", "other", "damaged"
	for name, c := range map[string]struct {
		runs             []string // the oldest first; their names are A, B, …
		latest, previous string
		latestAny        string
		previousAny      string
		skipped          string // by latest
	}{
		"whole runs":               {[]string{whole, whole}, "B", "A", "B", "A", ""},
		"one run":                  {[]string{whole}, "A", "", "A", "", ""},
		"a selection":              {[]string{whole, whole, part}, "B", "A", "C", "B", "C (a selection of tasks or episodes, which leaves out 7)"},
		"between":                  {[]string{whole, part, whole}, "C", "A", "C", "B", ""},
		"a shard and a fork":       {[]string{whole, shard, fork}, "A", "", "C", "B", "C (a fork), B (shard 1/4)"},
		"another suite in between": {[]string{whole, other, whole}, "C", "A", "C", "A", ""},
		"another suite last":       {[]string{whole, whole, other}, "C", "", "C", "", ""},
		"only partial runs":        {[]string{part, other, part}, "B", "", "C", "A", "C (a selection of tasks or episodes, which leaves out 7)"},
		"only partial ones":        {[]string{shard, part}, "B", "A", "B", "A", ""},
		"a damaged one last":       {[]string{whole, damaged}, "B", "A", "B", "A", ""},
		"a damaged one before":     {[]string{damaged, part, whole}, "C", "A", "C", "B", ""},
	} {
		t.Run(name, func(t *testing.T) {
			runs := t.TempDir()
			for i, kind := range c.runs {
				m := manifest.Manifest{Format: manifest.Format, RunID: string(rune('A' + i)), Status: "complete", Suite: "counts"}
				switch kind {
				case part:
					m.NotSelected = 7
				case shard:
					m.Shard = "1/4"
				case fork:
					m.Fork = &manifest.Fork{}
				case other:
					m.Suite = "research"
				}
				dir := filepath.Join(runs, m.RunID)
				require.NoError(t, os.Mkdir(dir, 0o755))
				require.NoError(t, manifest.Write(dir, m))
				file := filepath.Join(dir, "run.json")
				if kind == damaged {
					require.NoError(t, os.WriteFile(file, []byte("{"), 0o644))
				}
				at := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
				require.NoError(t, os.Chtimes(file, at, at))
			}
			for name, want := range map[string]string{"latest": c.latest, "previous": c.previous, "latest-any": c.latestAny, "previous-any": c.previousAny} {
				dir, err := Find(runs, name)
				if want == "" {
					require.ErrorContains(t, err, "two identical replays are one run", name)
					continue
				}
				require.NoError(t, err, name)
				require.Equal(t, want, filepath.Base(dir), name)
			}
			if c.skipped != "" {
				require.Equal(t, "latest is "+c.latest+"; partial runs that it skips (take them by id, or with latest-any): "+c.skipped, Skipped(runs, "latest"))
			} else {
				require.Empty(t, Skipped(runs, "latest"))
			}
			require.Empty(t, Skipped(runs, "latest-any"))
			require.Empty(t, Skipped(runs, "A"))
		})
	}
}

// The error about a name that is not a run says what it is.
func TestFindSaysWhatANameIs(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("shards/1/01J", 0o755))
	require.NoError(t, os.Mkdir("shards/2", 0o755))
	require.NoError(t, os.WriteFile("shards/1/01J/run.json", nil, 0o644))
	for name, want := range map[string]string{
		"shards/*/*":            `no folder matches "shards/*/*", so the shell did not replace the pattern; make runs in a folder with: cupel run --runs FOLDER`,
		"shards/1":              "shards/1 is a folder of runs, not a run; name its runs: shards/1/01J",
		"shards/2":              "shards/2 has no run.json, so it is not a run folder; name one, or make one with: cupel run",
		"shards/1/01J/run.json": "shards/1/01J/run.json is a file, not a run folder; name the folder that has run.json",
		"shards/3":              `no run "shards/3" below runs; make one with: cupel run`,
	} {
		_, err := Find("runs", name)
		require.EqualError(t, err, want)
	}
	_, err := Find("shards/1", "02")
	require.EqualError(t, err, `no run "02" below shards/1; use latest, or 01J`)
}

func TestFindEpisode(t *testing.T) {
	var all []ledger.Episode
	for i, name := range []string{"F01/strong", "F01/weak", "F02/weak"} {
		e := ledger.Episode{Key: ledger.Key{EpisodeID: fmt.Sprint(i + 1), Trial: 1}}
		e.TaskID, e.Candidate, _ = strings.Cut(name, "/")
		all = append(all, e)
	}
	for name, want := range map[string]string{"2": "2", "F01/weak/1": "2", "F01/weak": "2", "F02": "3"} {
		e, err := FindEpisode(all, name)
		require.NoError(t, err, name)
		require.Equal(t, want, e.EpisodeID, name)
	}
	_, err := FindEpisode(all, "F01")
	require.EqualError(t, err, `"F01" matches 2 episodes; name one of them in full, such as F01/strong/1 or F01/weak/1`)
	_, err = FindEpisode(all, "F0")
	require.EqualError(t, err, `no episode "F0" in this run; list them with: cupel show RUN`)
}
