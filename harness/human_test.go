package harness

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/recorder"
)

// asks returns a suite whose task asks a question and then calls a tool that writes.
func asks(t *testing.T, more string) *goldens.Suite {
	t.Helper()
	s := toolSuite(t, "    write: true", "    budgets: {max_steps: 5, max_seconds: 3}\n"+more)
	s.Tasks[0].Script = append([]goldens.Emit{{Text: strings.Replace(s.Tasks[0].Script[1].Text, `"type":"respond","message":"It is."`, `"type":"clarify","message":"Which\u001b[2J job?"`, 1)}}, s.Tasks[0].Script...)
	require.Contains(t, s.Tasks[0].Script[0].Text, "clarify")
	return s
}

// human answers with prepared replies and stores the questions.
type human struct {
	asked   []string
	answers []episode.Answer
}

func (h *human) answer(_ context.Context, q episode.Question) (episode.Answer, bool) {
	h.asked = append(h.asked, q.Task+"/"+q.Candidate+": "+q.String())
	if len(h.answers) == 0 {
		return episode.Answer{}, false
	}
	a := h.answers[0]
	h.answers = h.answers[1:]
	return a, true
}

// A question pauses the episode, which then continues with its counters. Waiting does not count
// towards its time budget. This applies to every source of answers.
func TestHumanSources(t *testing.T) {
	sources := map[string]func(o *Options){
		"scripted": func(o *Options) {},
		"programmatic": func(o *Options) {
			o.Human = func(_ context.Context, q episode.Question) (episode.Answer, bool) {
				time.Sleep(10 * time.Millisecond)
				return episode.Answer{Text: "Seven.", Approved: true}, true
			}
		},
	}
	for name, set := range sources {
		t.Run(name, func(t *testing.T) {
			o := ownOptions(t, asks(t, "    replies: [Seven.]\n    approvals: [approve]\n"))
			set(&o)
			res, calls := runOne(t, o)
			ep := res.Rows.Episodes[0]
			require.Equal(t, "answered_after_clarify", ep.Status)
			require.Equal(t, []string{"ok"}, calls)
			require.Equal(t, int32(1), ep.Clarifies, "an approval is no clarifying question")
			require.Equal(t, int32(3), ep.Steps)
			require.Zero(t, *ep.ElapsedUs, "waiting takes no virtual time")
			require.Equal(t, ep.RunID, res.Rows.Turns[2].RunID)
			require.Equal(t, []int32{1, 2, 3}, []int32{res.Rows.Turns[0].StepsUsed, res.Rows.Turns[1].StepsUsed, res.Rows.Turns[2].StepsUsed})
		})
	}
}

func TestHumanAnswersAreKept(t *testing.T) {
	o := ownOptions(t, asks(t, "    replies: [unused]\n"))
	h := &human{answers: []episode.Answer{{Text: "Seven: #7"}, {Approved: true}}}
	o.Human, o.Runs = h.answer, t.TempDir()
	res, _ := runOne(t, o)
	require.Equal(t, []string{`T/scripted: Which\u{1B}[2J job?`, `T/scripted: Allow get_job_status with arguments {"id":"7"}?`}, h.asked)
	require.Equal(t, []episode.Answers{{Task: "T", Candidate: "scripted", Trial: 1, Replies: []string{"Seven: #7"}, Approvals: []bool{true}}}, res.Answers)
	text := files(t, res.Dir)[filepath.Join(res.Dir, "replies.yaml")]
	require.Equal(t, "# What the human said. Copy replies and approvals into the tasks, and a replay\n# reproduces this run.\n"+
		"- task: T\n  candidate: scripted\n  trial: 1\n  replies:\n    - 'Seven: #7'\n  approvals: [approve]\n", text[:strings.Index(text, "# seal: sha256:")])

	// The replay uses the task's replies and does not ask the human.
	o.Mode, h.asked = recorder.Replay, nil
	o.Suite.Tasks[0].Replies, o.Suite.Tasks[0].Approvals = res.Answers[0].Replies, res.Answers[0].Approvals
	replayed, calls := runOne(t, o)
	require.Empty(t, h.asked)
	require.Empty(t, replayed.Answers)
	require.Equal(t, []string{"ok"}, calls)
	require.Equal(t, res.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
}

func TestQuestionWithoutAReply(t *testing.T) {
	for name, a := range map[string][]episode.Answer{"no answer": nil, "blank": {{Text: " \n"}}} {
		o := ownOptions(t, asks(t, "    replies: [unused]\n"))
		o.Human, o.Runs = (&human{answers: a}).answer, t.TempDir()
		res, calls := runOne(t, o)
		require.Equal(t, "clarify", res.Rows.Episodes[0].Status, name)
		require.Empty(t, calls)
		require.Empty(t, res.Answers)
		require.NotContains(t, files(t, o.Runs), filepath.Join(res.Dir, "replies.yaml"))
	}
}

func TestHumanIsBounded(t *testing.T) {
	o := ownOptions(t, asks(t, "    replies: [unused]\n"))
	h := &human{answers: []episode.Answer{{Text: strings.Repeat("x", 64<<10+1) + "\xff"}}}
	o.Human = h.answer
	res, calls := runOne(t, o)
	require.Len(t, res.Answers[0].Replies[0], 64<<10+len("…"))
	require.Equal(t, []string{"rejected E_DENIED"}, calls, "nobody there is no approval")
	require.Equal(t, []bool{false}, res.Answers[0].Approvals)

	long := episode.Question{Text: strings.Repeat("x", 4<<10+1)}
	require.LessOrEqual(t, len(long.String()), 4<<10+len("…"))
}

func TestHumanMayStopTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := ownOptions(t, asks(t, "    replies: [unused]\n"))
	o.Human = func(context.Context, episode.Question) (episode.Answer, bool) {
		cancel()
		return episode.Answer{}, false
	}
	res, err := Run(ctx, o)
	require.NoError(t, err)
	require.Empty(t, res.Rows.Episodes)
	require.True(t, res.Interrupted)
}

// A credential in an answer is not stored anywhere.
func TestAnswersStoreNoSecret(t *testing.T) {
	s := toolSuite(t, "    write: true\n    http: {url: 'http://127.0.0.1:1/', headers: {X-Api-Key: {env: JOB_KEY}}}", "    replies: [unused]\n")
	s.Tasks[0].Script[0].Text = strings.Replace(s.Tasks[0].Script[1].Text, `"type":"respond"`, `"type":"clarify"`, 1)
	o := ownOptions(t, s)
	o.Human, o.Runs = (&human{answers: []episode.Answer{{Text: "try " + plantedKey}}}).answer, t.TempDir()
	res, _ := runOne(t, o)
	require.NotEmpty(t, res.Answers)
	for path, text := range files(t, o.Runs) {
		require.NotContains(t, text, plantedKey, path)
	}
}

func TestApprovals(t *testing.T) {
	tests := []struct {
		name, use, task string
		want            []string
		asked           int
	}{
		{"reading tools run", "", "", []string{"ok"}, 0},
		{"writing tools are declined unless approved", "    write: true", "", []string{"rejected E_DENIED"}, 1},
		{"approved", "    write: true", "    approvals: [approve]\n", []string{"ok"}, 1},
		{"denied", "    write: true", "    approvals: [deny, approve]\n", []string{"rejected E_DENIED"}, 1},
		{"always", "    write: true\n    approve: always", "", []string{"ok"}, 0},
		{"ask for a reading tool", "    approve: ask", "    approvals: [approve]\n", []string{"ok"}, 1},
		{"never", "    approve: never", "", []string{"rejected E_FORBIDDEN"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := ownOptions(t, toolSuite(t, tt.use, tt.task))
			ran := 0
			o.Tools = map[string]episode.ToolFunc{"get_job_status": func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
				ran++
				return tool.Result{Outcome: tool.OK, Value: []byte("1")}, nil
			}}
			r, err := newRunner(o)
			require.NoError(t, err)
			first := r.plan.at(0)
			var traces []episode.Trace
			rows := r.env().Run(context.Background(), &first, func(x episode.Trace) { traces = append(traces, x) })
			var calls []string
			for _, c := range rows.ToolCalls {
				calls = append(calls, strings.TrimSpace(c.Outcome+" "+c.ErrorCode))
				require.Zero(t, c.DurationUs)
			}
			require.Equal(t, tt.want, calls)
			require.Equal(t, tt.want[0] == "ok", ran == 1, "refused calls do not run")
			asked := 0
			for _, x := range traces {
				asked += drive.Count(strings.HasPrefix(x.Question, "Allow get_job_status"))
			}
			require.Equal(t, tt.asked, asked)
			require.Zero(t, rows.Episode.Clarifies)

			var transcript bytes.Buffer
			require.NoError(t, episode.WriteTranscript(&transcript, traces))
			if tt.want[0] == "rejected E_DENIED" {
				require.Contains(t, transcript.String(), "the user declined this call", "and the model is told")
				require.Contains(t, fmt.Sprint(traces[len(traces)-2].Call.Messages), "the user declined this call")
			}
		})
	}
}

// The dedupe gate does not answer a call that was declined before, because the human may decide
// differently.
func TestDeclinedCallsAreNotCached(t *testing.T) {
	s := toolSuite(t, "    write: true\n    repeatable: true", "    approvals: [deny, approve]\n")
	s.Tasks[0].Script = append(s.Tasks[0].Script[:1:1], s.Tasks[0].Script...)
	res, calls := runOne(t, ownOptions(t, s))
	require.Equal(t, []string{"rejected E_DENIED", "ok"}, calls)
	require.False(t, res.Rows.ToolCalls[1].Deduped)
}
