package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// sessionSuite has a session of three tasks, whose order differs from that of their ids, one of two
// tasks, and tasks without a session between them.
const sessionSuite = `
name: talk
candidates:
  - {name: a, provider: sim-openai, model: m}
  - {name: b, provider: sim-openai, model: m, memory: {turns: 1}}
  - {name: c, provider: sim-openai, model: m, memory: {off: true}}
tools: [{name: today_range, description: Today., schema: {type: object}}]
worlds: {may: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: may, budgets: {max_steps: 3}}
tasks:
  - {id: Z1, session: one, request: First, expect: {status: answered}}
  - {id: B1, session: two, request: Uno, expect: {status: answered}}
  - {id: S1, request: Alone, expect: {status: answered}}
  - {id: M2, session: one, request: Second, expect: {status: answered}}
  - {id: A3, session: one, request: Third, expect: {status: answered}}
  - {id: S2, request: Alone again, expect: {status: answered}}
  - {id: B2, session: two, request: Dos, expect: {status: answered}}
`

// echoModel is a provider whose model repeats the request and the length of its history. It fails
// for configured tasks.
type echoModel struct {
	mu    sync.Mutex
	fail  string // a request
	asked []string
}

func (p *echoModel) RoundTrip(r *http.Request) (*http.Response, error) {
	var body struct{ Messages []struct{ Content string } }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	_, text, _ := strings.Cut(body.Messages[len(body.Messages)-1].Content, "<data>")
	text, _, _ = strings.Cut(text, "</data>")
	request, _, _ := strings.Cut(text, "\n")
	p.mu.Lock()
	p.asked = append(p.asked, text)
	fails := p.fail == request
	p.mu.Unlock()
	status, reply := 200, any(map[string]any{
		"id": "1", "object": "chat.completion", "model": "m",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": fmt.Sprintf(
			`{"control":{"done":true,"reason":"ok"},"next_action":{"type":"respond","message":"%s, after %d"},"state_update":{"plan":"p","observation":"o","confidence":1}}`,
			request, strings.Count(text, "\nuser: "))}}},
		"usage": map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	})
	if fails {
		status, reply = 400, map[string]any{"error": map[string]any{"message": "no"}}
	}
	out, err := json.Marshal(reply)
	return testkit.Reply(r, status, string(out)), err
}

func talkSuite(t *testing.T, text string) *goldens.Suite {
	t.Helper()
	s, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(text)}}, "talk", counts.Worlds())
	require.NoError(t, err)
	return s
}

// talkOptions returns a recording of the suite of sessions.
func talkOptions(t *testing.T, p *echoModel) harness.Options {
	t.Helper()
	o := countsOptions(t)
	o.Suite, o.Mode, o.CassetteDir, o.Runs, o.Trials = talkSuite(t, sessionSuite), recorder.Record, t.TempDir(), t.TempDir(), 2
	o.Cassettes = os.DirFS(o.CassetteDir)
	o.Now = func() time.Time { return time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC) }
	o.Transport = func(string) http.RoundTripper { return p }
	return o
}

// answersOf returns the answers by task/candidate/trial.
func answersOf(t *testing.T, res harness.Result) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, e := range rowsOf(t, res).Episodes {
		out[fmt.Sprintf("%s/%s/%d", e.TaskID, e.Candidate, e.Trial)] = e.Answer
	}
	return out
}

func runTalk(t *testing.T, o harness.Options) harness.Result {
	t.Helper()
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	return res
}

// In every trial, every candidate sees its earlier requests and answers, within its bounds.
func TestSessionsRemember(t *testing.T) {
	p := &echoModel{}
	o := talkOptions(t, p)
	recorded := runTalk(t, o)
	require.Equal(t, "complete", recorded.Manifest.Status)
	answers := answersOf(t, recorded)
	require.Len(t, answers, 7*3*2)
	for _, trial := range []string{"1", "2"} {
		for task, want := range map[string]string{
			"Z1/a": "First, after 0", "M2/a": "Second, after 1", "A3/a": "Third, after 2", "B2/a": "Dos, after 1", "S2/a": "Alone again, after 0",
			"A3/b": "Third, after 1", "A3/c": "Third, after 0",
		} {
			require.Equal(t, want, answers[task+"/"+trial], task)
		}
	}
	require.Contains(t, p.asked, "Third\n\nEARLIER:\nuser: First\nyou: First, after 0\nuser: Second\nyou: Second, after 1")
	require.Contains(t, p.asked, "Third\n\nEARLIER:\nuser: Second\nyou: Second, after 1", "the latest that fit")

	o.Mode = recorder.Replay
	for _, n := range []int{1, 16} {
		o.Runs, o.Concurrency = t.TempDir(), n
		replayed := runTalk(t, o)
		require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest, "concurrency %d", n)
	}
	v, err := rerun.Verify(context.Background(), o, recorded.Dir)
	require.NoError(t, err)
	require.Equal(t, 42, v.Verified)
	require.Nil(t, v.First)
}

// The result of sessions does not depend on the number of lanes.
func TestSessionsAreEqualAtAnyConcurrency(t *testing.T) {
	var want map[string]string
	for _, n := range []int{1, 3, 32} {
		o := talkOptions(t, &echoModel{})
		o.Mode, o.Runs, o.Concurrency = recorder.Live, "", n
		got := answersOf(t, runTalk(t, o))
		if want == nil {
			want = got
		}
		require.Equal(t, want, got, "concurrency %d", n)
	}
}

// Selecting a task of a session also selects the earlier ones, and no later one.
func TestSelectingATaskOfASession(t *testing.T) {
	for name, tc := range map[string]struct {
		sel  harness.Selection
		want []string
	}{
		"by name":     {harness.Selection{Tasks: []string{"M2"}}, []string{"M2", "Z1"}},
		"the last":    {harness.Selection{Tasks: []string{"B2", "S1"}}, []string{"B1", "B2", "S1"}},
		"the first":   {harness.Selection{Tasks: []string{"Z1"}}, []string{"Z1"}},
		"by episode":  {harness.Selection{Episode: func(task, _ string, trial int) bool { return task == "A3" && trial == 2 }}, []string{"A3", "M2", "Z1"}},
		"all of them": {harness.Selection{Tasks: []string{"?[0-9]"}}, []string{"A3", "B1", "B2", "M2", "S1", "S2", "Z1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := talkOptions(t, &echoModel{})
			o.Mode, o.Runs, o.Select = recorder.Live, "", tc.sel
			o.Select.Candidates = []string{"a"}
			var got []string
			for _, e := range runTalk(t, o).Rows.Episodes {
				if e.Trial == 2 {
					got = append(got, e.TaskID)
				}
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestSessionsStayOnOneShard(t *testing.T) {
	o := talkOptions(t, &echoModel{})
	o.Trials = 8
	runTalk(t, o)
	o.Mode, o.Runs = recorder.Replay, t.TempDir()
	whole := runTalk(t, o)
	dirs := shards(t, o, 3)
	used := 0
	for _, dir := range dirs {
		rows, err := ledger.Read(dir)
		require.NoError(t, err)
		tasks := map[string]int{}
		for _, e := range rows.Episodes {
			tasks[e.TaskID]++
		}
		require.Equal(t, []int{tasks["Z1"], tasks["Z1"], tasks["B1"]}, []int{tasks["M2"], tasks["A3"], tasks["B2"]})
		used += min(tasks["Z1"], 1)
	}
	require.Equal(t, 3, used, "sessions are spread over the shards")
	_, m, err := rerun.Merge(t.TempDir(), dirs)
	require.NoError(t, err)
	require.Equal(t, whole.Manifest.LedgerDigest, m.LedgerDigest)
}

// Wherever a run is interrupted, the later episodes see the history that is on disk.
func TestResumedSessionsRemember(t *testing.T) {
	o := talkOptions(t, &echoModel{})
	recorded := runTalk(t, o)
	o.Mode = recorder.Replay
	o.Runs = t.TempDir()
	want := runFiles(t, runTalk(t, o).Dir)
	for _, n := range []int{1, 2, 9, 20, 30} {
		o.Runs, o.Concurrency, o.Resume = t.TempDir(), 1+n%3, ""
		stopped := stopAfter(t, o, n)
		require.True(t, stopped.Interrupted, n)
		require.Less(t, stopped.Manifest.Episodes, 42, n)
		o.Resume = stopped.Manifest.RunID
		res := runTalk(t, o)
		for name, got := range runFiles(t, res.Dir) {
			require.True(t, want[name] == got, "%s differs after an interruption at %d", name, n)
		}
	}
	require.Equal(t, 42, recorded.Manifest.Episodes)
}

// If an episode has no result, the later ones of its session have none either, because their history
// is unknown. A resumed run executes them.
func TestSessionsWithAnExcludedEpisode(t *testing.T) {
	p := &echoModel{fail: "Second"}
	o := talkOptions(t, p)
	o.Trials = 1
	res := runTalk(t, o)
	require.Equal(t, "partial", res.Manifest.Status)
	for _, e := range rowsOf(t, res).Episodes {
		remembers := e.Candidate != "c"
		switch {
		case e.TaskID == "M2":
			require.Equal(t, ledger.StatusInfraError, e.Status)
		case e.TaskID == "A3" && remembers:
			require.Equal(t, []any{ledger.StatusHarnessError, episode.KindSession, true}, []any{e.Status, e.ErrorKind, e.InfraError})
			require.Equal(t, "session one: the earlier episode M2/"+e.Candidate+"/1 has no result (invalid_request); resume the run, or record that one again, and this one follows", e.ErrorText)
			require.Zero(t, e.Steps, "it was not run")
		default:
			require.Equal(t, "answered", e.Status, "%s/%s", e.TaskID, e.Candidate)
		}
	}
	p.fail, p.asked = "", nil
	o.Resume = res.Manifest.RunID
	res = runTalk(t, o)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Equal(t, "Third, after 2", answersOf(t, res)["A3/a/1"])
	require.Len(t, p.asked, 3+2, "the others are not asked again")
	require.NoFileExists(t, filepath.Join(res.Dir, "journal"))
}

// Single episodes are executed again with the earlier ones of their session.
func TestEpisodesOfSessionsAgain(t *testing.T) {
	o := talkOptions(t, &echoModel{})
	res := runTalk(t, o)
	o.Mode = recorder.Replay
	r, err := rerun.NewReplayer(o, res.Manifest)
	require.NoError(t, err)
	defer r.Close()
	var wg sync.WaitGroup
	for _, e := range episodesOf(rowsOf(t, res)) {
		wg.Go(func() {
			traces, err := r.Again(context.Background(), e)
			if err != nil || len(traces) != 2 {
				t.Errorf("%s/%s: %d traces, %v", e.Episode.TaskID, e.Episode.Candidate, len(traces), err)
			}
		})
	}
	wg.Wait()

	o.Select = harness.Selection{Tasks: []string{"A3"}, Candidates: []string{"a"}}
	rows, _, err := harness.Replay(context.Background(), o, 2)
	require.NoError(t, err)
	require.Equal(t, "Third, after 2", rows.Episode.Answer)
	o.Select.Tasks = []string{"A3", "M2"}
	_, _, err = harness.Replay(context.Background(), o, 2)
	require.ErrorContains(t, err, "replay takes one episode, the selection has 2")
}

func TestRescoredSessions(t *testing.T) {
	o := talkOptions(t, &echoModel{})
	o.Trials = 1
	res := runTalk(t, o)
	o.Suite = talkSuite(t, strings.Replace(sessionSuite, "request: Third, expect: {status: answered}", "request: Third, expect: {status: answered, contains_any: [after 2]}", 1))
	dir, out, err := rerun.Rescore(context.Background(), o, res.Dir)
	require.NoError(t, err)
	require.Equal(t, 21, out.Episodes)
	rows, err := ledger.Read(dir)
	require.NoError(t, err)
	solved := map[string]bool{}
	for _, e := range rows.Episodes {
		if e.TaskID == "A3" {
			solved[e.Candidate] = e.Solved
		}
	}
	require.Equal(t, map[string]bool{"a": true, "b": false, "c": false}, solved)
}

func TestForksOfSessionsAreRefused(t *testing.T) {
	o := talkOptions(t, &echoModel{})
	o.Fork = &harness.Fork{Task: "M2", Candidate: "a", Turn: 1}
	_, err := harness.Run(context.Background(), o)
	var config *harness.ConfigError
	require.ErrorAs(t, err, &config)
	require.ErrorContains(t, err, "fork M2/a/1@1: its task is part of a session")
}

// The cassettes after a stale one in a session are stale, too. Those before it are replayed and not
// recorded again.
func TestStaleSessions(t *testing.T) {
	p := &echoModel{}
	o := talkOptions(t, p)
	o.Trials = 1
	runTalk(t, o)
	states := func(o harness.Options) map[string]string {
		all, err := harness.Cassettes(o)
		require.NoError(t, err)
		out := map[string]string{}
		for _, s := range all {
			if s.State != cassettes.Fresh {
				out[s.Path] = fmt.Sprint(s.State, s.Why)
			}
		}
		return out
	}
	require.Empty(t, states(o))

	o.Suite = talkSuite(t, strings.Replace(sessionSuite, "request: Second", "request: Zweite", 1))
	const task, after = "stale[task changed (request, world, or its script)]", "stale[session changed (its earlier task M2 is stale)]"
	require.Equal(t, map[string]string{
		"a/M2/1.yaml": task, "b/M2/1.yaml": task, "c/M2/1.yaml": task, "a/A3/1.yaml": after, "b/A3/1.yaml": after,
	}, states(o), "c remembers nothing")

	before, err := os.ReadFile(filepath.Join(o.CassetteDir, "a/Z1/1.yaml"))
	require.NoError(t, err)
	p.asked = nil
	o.Stale = true
	res := runTalk(t, o)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Equal(t, 5, res.Manifest.Episodes)
	require.Len(t, p.asked, 5)
	require.Contains(t, p.asked, "Third\n\nEARLIER:\nuser: First\nyou: First, after 0\nuser: Zweite\nyou: Zweite, after 1")
	after1, err := os.ReadFile(filepath.Join(o.CassetteDir, "a/Z1/1.yaml"))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after1))
	_, err = harness.Run(context.Background(), o)
	require.ErrorIs(t, err, harness.ErrAllFresh)

	// Recording only one episode again leaves old prompts in the later ones.
	o.Stale, o.Select.Tasks = false, []string{"Z1"}
	o.Now = func() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) }
	runTalk(t, o)
	o.Select.Tasks = nil
	require.Equal(t, []string{"a/A3/1.yaml", "a/M2/1.yaml", "b/A3/1.yaml", "b/M2/1.yaml"}, sorted(states(o)))
	require.Equal(t, "stale[session changed (an earlier task was recorded again or replaced)]", states(o)["a/M2/1.yaml"])

	// A task was removed from its session, or another one was inserted before it.
	o.Suite = talkSuite(t, strings.Replace(sessionSuite, "B2, session: two", "B2", 1))
	require.Contains(t, states(o), "a/B2/1.yaml")
	require.NotContains(t, states(o), "c/B2/1.yaml")
	o.Suite = talkSuite(t, strings.Replace(sessionSuite, "B1, session: two", "B1", 1))
	require.Contains(t, states(o), "a/B1/1.yaml")
	require.Contains(t, states(o), "a/B2/1.yaml")
	o.Suite = talkSuite(t, sessionSuite)

	require.NoError(t, os.Remove(filepath.Join(o.CassetteDir, "a/B1/1.yaml")))
	require.Equal(t, "stale[session changed (its earlier task B1 is missing)]", states(o)["a/B2/1.yaml"])
}

func sorted(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// An interrupted recording of stale cassettes reads its history from the fresh ones when it is
// resumed.
func TestResumedStaleSessions(t *testing.T) {
	p := &echoModel{}
	o := talkOptions(t, p)
	o.Trials, o.Concurrency = 1, 1
	runTalk(t, o)
	o.Suite = talkSuite(t, strings.Replace(sessionSuite, "request: Second", "request: Zweite", 1))
	o.Suite.FS = os.DirFS(filepath.Dir(o.CassetteDir)) // not where they are
	o.Stale = true
	stopped := stopAfter(t, o, 1)
	require.True(t, stopped.Interrupted)
	o.Stale, o.Resume = false, stopped.Manifest.RunID
	res := runTalk(t, o)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Equal(t, "Third, after 2", answersOf(t, res)["A3/a/1"])
}

// Golden subtests run the required episodes of sessions, whichever subtests are selected.
func TestGoldenSessions(t *testing.T) {
	o := talkOptions(t, &echoModel{})
	runTalk(t, o)
	dir := filepath.Join(t.TempDir(), "talk")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "suite.yaml"), []byte(strings.ReplaceAll(sessionSuite, "request: Third, expect: {status: answered}", "request: Third, expect: {status: answered, contains_any: [after 2, after 1, after 0]}")), 0o600))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "cassettes"), os.DirFS(o.CassetteDir)))
	for _, tasks := range [][]string{nil, {"A3"}} {
		harness.Test(t, harness.Params{Suite: dir, Providers: o.Providers, Trials: 2, Select: harness.Selection{Tasks: tasks}})
	}
}

// Scripted tasks may form a session, which has no cassettes.
func TestScriptedSession(t *testing.T) {
	o := countsOptions(t)
	o.Suite = talkSuite(t, `
name: talk
worlds: {may: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: may}
tasks:
  - {id: A, session: s, scripted: true, request: Hi, script: [{respond: Hello}], expect: {status: answered}}
  - {id: B, session: s, scripted: true, request: Who, script: [{respond: Me}], expect: {status: answered}}
`)
	o.Select.Candidates = []string{"scripted"}
	var mu sync.Mutex
	var asked []string
	o.Traced = func(_ ledger.EpisodeRows, traces []episode.Trace) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, traces[0].Call.Messages[0].Text)
	}
	res := runTalk(t, o)
	require.Equal(t, 2, res.Manifest.Outcomes.Solved)
	require.NotContains(t, asked[0], "EARLIER")
	require.Contains(t, asked[1], "<data>Who\n\nEARLIER:\nuser: Hi\nyou: Hello</data>")
}

// Agent tools receives the history of a session as a conversation.
func TestSessionsOfToolsRemember(t *testing.T) {
	const suite = `
name: talk
worlds: {may: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: may, budgets: {max_steps: 3}}
tasks:
  - {id: B, session: one, request: First, expect: {status: answered}}
  - {id: A, session: one, request: Second, expect: {status: answered}}
`
	var mu sync.Mutex
	bodies := map[int]string{}
	o := talkOptions(t, &echoModel{})
	o.Suite, o.Trials, o.Candidates = talkSuite(t, suite), 1, []goldens.Candidate{{Name: "a", Agent: "tools", Provider: "sim-openai", Model: "m"}}
	o.Transport = func(string) http.RoundTripper {
		return testkit.Transport(func(r *http.Request) (*http.Response, error) {
			var body struct {
				Messages []struct{ Role, Content string }
			}
			err := json.NewDecoder(r.Body).Decode(&body)
			text := ""
			for _, m := range body.Messages[1:] {
				text += m.Role + ": " + m.Content + "\n"
			}
			mu.Lock()
			defer mu.Unlock()
			bodies[len(bodies)] = text
			reply := `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello."}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`
			return testkit.Reply(r, http.StatusOK, reply), err
		})
	}
	res := runTalk(t, o)
	require.Equal(t, 2, res.Manifest.Outcomes.Solved)
	require.Equal(t, map[int]string{0: "user: First\n", 1: "user: First\nassistant: Hello.\nuser: Second\n"}, bodies)
	o.Mode = recorder.Replay
	require.Equal(t, res.Manifest.LedgerDigest, runTalk(t, o).Manifest.LedgerDigest)
}
