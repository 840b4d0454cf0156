package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// An episode can be named in several ways, and a run also by its path.
func TestFindSource(t *testing.T) {
	t.Parallel()
	runs := filepath.Join(t.TempDir(), "all", "runs")
	code, out := cupelIn("run", "--runs", runs, "--candidate", "weak", "--task", "G0[12]", "--quiet")
	require.Zero(t, code, out)
	dir, _, rows, err := rundir.Load(runs, "latest")
	require.NoError(t, err)
	id := rows[0].EpisodeID
	for _, name := range []string{
		"latest/G01/weak", "latest/G01/weak/1", "latest/G01", "latest/" + id, filepath.Base(dir) + "/G01/weak",
		dir + "/G01/weak", filepath.ToSlash(dir) + "/G01/weak/1", dir + "/" + id,
	} {
		ep, err := findSource(config.Config{Runs: runs}, name)
		require.NoError(t, err, name)
		require.Equal(t, id, ep.row.EpisodeID, name)
		require.Equal(t, "weak", ep.candidate)
	}
	for name, want := range map[string]string{
		"":                                  `"" is not an episode`,
		"G01":                               `"G01" is not an episode`,
		"latest/G01/weak/2":                 `no episode "G01/weak/2"`,
		"latest/G0":                         `no episode "G0"`,
		"other/G01/weak/1":                  `no run "other" below`,
		"latest/" + strings.Repeat("0", 26): "no episode \"000",
	} {
		_, err := findSource(config.Config{Runs: runs}, name)
		require.ErrorContains(t, err, want, name)
		require.Equal(t, exit.BadUsage, exit.Code(err), name)
	}
}

func TestCheckSourceRefusesUselessEpisodes(t *testing.T) {
	ok := ledger.Episode{Key: ledger.Key{TaskID: "G01", Candidate: "a", Trial: 1}}
	_, err := checkSource("", manifest.Manifest{Mode: "replay"}, ok)
	require.NoError(t, err)
	failed := ok
	failed.InfraError, failed.ErrorKind = true, "rate_limit"
	_, err = checkSource("", manifest.Manifest{Mode: "record"}, failed)
	require.ErrorContains(t, err, "G01/a/1 has no result (rate_limit)")
}

// The replies of a person in the run replace those of the task, for that episode only, and the suite
// does not change.
func TestTakeAnswers(t *testing.T) {
	row := ledger.Episode{Key: ledger.Key{TaskID: "B", Candidate: "a", Trial: 2}}
	suite := &goldens.Suite{Tasks: []goldens.Task{{ID: "A"}, {ID: "B", Replies: []string{"old"}, Approvals: []bool{false}}}}
	for name, tc := range map[string]struct {
		file      string
		human     bool
		replies   []string
		approvals []bool
	}{
		"no file":       {"", false, []string{"old"}, []bool{false}},
		"another trial": {"- {task: B, candidate: a, trial: 1, replies: [x]}", false, []string{"old"}, []bool{false}},
		"this episode":  {"- {task: A, candidate: a, trial: 2}\n- {task: B, candidate: a, trial: 2, replies: [x], approvals: [approve, deny]}", true, []string{"x"}, []bool{true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if tc.file != "" {
				writeSealed(t, filepath.Join(dir, "replies.yaml"), tc.file)
			}
			o := harness.Options{Matrix: harness.Matrix{Suite: suite}}
			human, err := takeAnswers(&o, dir, row)
			require.NoError(t, err)
			require.Equal(t, tc.human, human)
			require.Equal(t, tc.replies, o.Suite.Tasks[1].Replies)
			require.Equal(t, tc.approvals, o.Suite.Tasks[1].Approvals)
			require.Equal(t, []string{"old"}, suite.Tasks[1].Replies)
		})
	}
	dir := t.TempDir()
	writeSealed(t, filepath.Join(dir, "replies.yaml"), "]")
	_, err := takeAnswers(&harness.Options{Matrix: harness.Matrix{Suite: suite}}, dir, row)
	require.ErrorContains(t, err, "read what the human said")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "replies.yaml"), []byte("- {task: B}\n"), 0o644))
	_, err = takeAnswers(&harness.Options{Matrix: harness.Matrix{Suite: suite}}, dir, row)
	require.ErrorContains(t, err, "replies.yaml: cut or changed after it was written")
}

// episodeWith returns an episode in which a model called a tool with a credential and repeated it to
// the user.
func episodeWith(secret string, solved bool) *sourceEpisode {
	ep := &sourceEpisode{
		row: ledger.Episode{Key: ledger.Key{TaskID: "A", Candidate: "c", Trial: 1}}, candidate: "c",
		options: harness.Options{
			Matrix: harness.Matrix{
				Suite:      &goldens.Suite{Tasks: []goldens.Task{{ID: "A", Expect: []goldens.Expect{{Status: "answered"}}}}},
				Candidates: []goldens.Candidate{{Name: "b"}, {Name: "c"}},
			},
		},
		secrets: secrets.New(secret),
	}
	ep.rows.Episode = ledger.Episode{Status: "answered", Solved: solved, Steps: 2, Answer: "It is " + secret, ElapsedUs: new(int64(1500))}
	if !solved {
		ep.rows.Episode.Checks = []ledger.Check{{Name: "status", Detail: "got " + secret}, {Name: "x", Passed: true}}
	}
	o := goldens.Outcome{Status: "answered", Answer: "It is " + secret, Steps: 2}
	call := func(args string) episode.Trace {
		c := tool.Call{Name: "get", Args: json.RawMessage(args)}
		o.Calls = append(o.Calls, goldens.Called{Call: c, Outcome: tool.OK})
		return episode.Trace{
			Tool:   &agent.CallTool{Call: c},
			Result: &tool.Result{Outcome: tool.OK, Value: json.RawMessage(`"` + secret + `"`)},
		}
	}
	// The line is truncated within the credential.
	padding := strings.Repeat("x", 190)
	ep.traces = []episode.Trace{
		{Question: "Is it " + secret + "?", Reply: "yes"}, {Question: "Sure?", Silent: true},
		call(`{"k":"` + padding + secret + `"}`), call(`{"k":1}`),
	}
	ep.traces = append(ep.traces, episode.Trace{Finish: &agent.Finish{}, Outcome: &o})
	ep.outcome = ep.observed()
	return ep
}

func TestObserved(t *testing.T) {
	o := episodeWith("s3cr3t-canary", true).outcome
	require.Equal(t, "It is "+secrets.Hidden, o.Answer)
	require.Equal(t, 2, o.Steps)
	require.Len(t, o.Calls, 2)
}

// A model cannot put a credential, or a part of it, into a suite.
func TestDraftHasNoSecrets(t *testing.T) {
	const secret = "s3cr3t-canary"
	for _, solved := range []bool{true, false} {
		d := episodeWith(secret, solved).draft(config.Config{})
		text, err := json.Marshal([]any{d.Comments, d.Task.Expect, d.Task.ID})
		require.NoError(t, err)
		require.NotContains(t, string(text), secret[:4])
		require.Contains(t, string(text), secrets.Hidden)
		require.Equal(t, "A-c", d.Task.ID)
		require.Equal(t, []goldens.Candidate{{Name: "c"}}, d.Candidates)
		require.Equal(t, solved, d.Pinned)
		if !solved {
			require.Equal(t, []goldens.Expect{{Status: "answered"}}, d.Task.Expect)
			continue
		}
		require.Nil(t, d.Task.Expect[0].ContainsAll, "the words held it")
		require.Equal(t, []goldens.CallMatch{{Tool: "get"}, {Tool: "get", Args: map[string]any{"k": json.Number("1")}}}, d.Task.Expect[0].Trajectory.Required)
	}
	require.Nil(t, episodeWith(secret, true).draft(config.Config{Candidates: []goldens.Candidate{{Name: "c"}}}).Candidates, "the configuration has them")
}

// The story of an episode has a bounded length.
func TestStoryIsBounded(t *testing.T) {
	ep := episodeWith("s3cr3t-canary", true)
	for range 1000 {
		ep.traces = append(ep.traces, ep.traces...)
		if len(ep.traces) > 1000 {
			break
		}
	}
	ep.traces[0].Question = strings.Repeat("q", 100_000)
	lines := ep.story(ep.options.Suite.Tasks[0])
	require.Less(t, len(lines), 50)
	require.Less(t, len(strings.Join(lines, "\n")), 20_000)
	require.Contains(t, strings.Join(lines, "\n"), "lines more")
}

// A cassette from a pack equals its YAML file, including the headers of requests.
func TestRecordingOfAPackIsComplete(t *testing.T) {
	suite, err := load.Suite(research.FS, "builtin:research", research.Worlds())
	require.NoError(t, err)
	ep := &sourceEpisode{row: ledger.Episode{Key: ledger.Key{TaskID: "R01", Candidate: "contract-erratic", Trial: 1}}, options: harness.Options{Matrix: harness.Matrix{Suite: suite}}}
	data, err := ep.recording()
	require.NoError(t, err)
	for _, x := range data.Interactions {
		require.NotEmpty(t, x.Request.Headers)
	}
}
