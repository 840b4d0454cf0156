package pairwise

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/rubric"
	"github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/reports/preference"
)

var jury = helper.Jury{Rubric: "The answer apologises.", Model: helper.Model{Name: "tone", Provider: "openai", Model: "gpt-4o", MaxTokens: new(300)}}

// judge is a transport. reply returns what the judge says to a prompt.
type judge struct {
	mu     sync.Mutex
	bodies []string
	reply  func(system, message string, n int) string
}

func (j *judge) transport(string) http.RoundTripper {
	return testkit.Transport(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		var asked struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal(body, &asked); err != nil {
			return nil, err
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		j.bodies = append(j.bodies, string(body))
		said := j.reply(asked.Messages[0].Content, asked.Messages[1].Content, len(j.bodies))
		if said == "" {
			return testkit.Reply(r, http.StatusBadRequest, `{"error":{"message":"no"}}`), nil
		}
		quoted, _ := json.Marshal(said)
		return testkit.Reply(r, http.StatusOK, fmt.Sprintf(`{"model":"m","choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, quoted)), nil
	})
}

func (j *judge) asked() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.bodies)
}

func options(t *testing.T, dir string, j *judge, mode recorder.Mode) harness.Options {
	t.Helper()
	prices, err := price.Default()
	require.NoError(t, err)
	return harness.Options{
		Matrix:    harness.Matrix{Suite: &goldens.Suite{}},
		Rules:     harness.Rules{Prices: prices},
		Recording: harness.Recording{Mode: mode, CassetteDir: dir, Cassettes: os.DirFS(dir)},
		Parts:     harness.Parts{Providers: all.Factories(), Transport: j.transport, Key: func(goldens.Candidate) (string, error) { return "sk-test-0123456789abcdef", nil }},
	}
}

func pairsOf(answers ...[2]string) (list []Pair) {
	for i, a := range answers {
		e := scorer.Episode{Request: "Where is it?", Status: "answered"}
		p := Pair{Task: fmt.Sprintf("T%d", i), Trial: 1, Baseline: e, New: e}
		p.Baseline.Answer, p.New.Answer = a[0], a[1]
		list = append(list, p)
	}
	return list
}

// sorry prefers the answer with an apology.
func sorry(_, message string, _ int) string {
	_, document, ok := rubric.ReadPair(jury.Rubric, rubric.PairSystem(), message)
	var seen struct{ First, Second scorer.Episode }
	if err := json.Unmarshal(document, &seen); !ok || err != nil {
		return "not a comparison"
	}
	first, second := strings.Contains(seen.First.Answer, "Sorry"), strings.Contains(seen.Second.Answer, "Sorry")
	switch {
	case first && !second:
		return `{"reason": "the first apologises", "better": "first"}`
	case second && !first:
		return `{"reason": "the second apologises", "better": "second"}`
	}
	return `{"reason": "neither", "better": "tie"}`
}

// The judge is asked in both orders and sees no names. Its answers are replayed offline, for the
// swapped comparison, too; the cost is counted.
func TestAsk(t *testing.T) {
	dir, j := t.TempDir(), &judge{reply: sorry}
	pairs := pairsOf([2]string{"No.", "Sorry, no."}, [2]string{"Sorry.", "Yes."}, [2]string{"Hm.", "Well."}, [2]string{"The same.", "The same."})
	pairs[0].Baseline.With = json.RawMessage(`"the late parcel"`)
	missing := new(MissingError)
	_, err := Ask(context.Background(), options(t, dir, j, recorder.Replay), jury, pairs)
	require.ErrorAs(t, err, &missing)
	require.Equal(t, &MissingError{6, 6}, missing)
	a, err := Ask(context.Background(), options(t, dir, j, recorder.Record), jury, pairs)
	require.NoError(t, err)
	require.Equal(t, 6, j.asked())
	for _, body := range j.bodies {
		require.NotContains(t, body, "T0")
		require.Contains(t, body, `"max_tokens":300`)
		require.NotContains(t, body, "temperature")
	}
	require.Contains(t, strings.Join(j.bodies, ""), "the late parcel")
	better := func(a Asked) (list [][2]rubric.Better) {
		for _, one := range a.Answers {
			require.Empty(t, one.Orders[0].Failure+one.Orders[1].Failure)
			list = append(list, [2]rubric.Better{one.Orders[0].Better, one.Orders[1].Better})
		}
		return list
	}
	want := [][2]rubric.Better{{rubric.Second, rubric.First}, {rubric.First, rubric.Second}, {rubric.Tie, rubric.Tie}, {}}
	require.Equal(t, want, better(a))
	require.True(t, a.Answers[3].Same)
	require.Equal(t, "the second apologises", a.Answers[0].Orders[0].Reason)
	require.Equal(t, []int64{6, 600, 60, 600*2500 + 60*10_000}, []int64{int64(a.Calls), *a.TokensIn, *a.TokensOut, *a.CostNanoUSD})

	for _, mode := range []recorder.Mode{recorder.Replay, recorder.Record} {
		again, err := Ask(context.Background(), options(t, dir, j, mode), jury, pairs)
		require.NoError(t, err)
		require.Equal(t, a, again)
	}
	require.Equal(t, 6, j.asked(), "nothing is asked twice")
	for i, p := range pairs {
		pairs[i].Baseline, pairs[i].New = p.New, p.Baseline
		pairs[i].Baseline.With = p.Baseline.With
	}
	swapped, err := Ask(context.Background(), options(t, dir, j, recorder.Replay), jury, pairs)
	require.NoError(t, err)
	require.Equal(t, [][2]rubric.Better{{rubric.First, rubric.Second}, {rubric.Second, rubric.First}, {rubric.Tie, rubric.Tie}, {}}, better(swapped))

	other := jury
	other.Rubric = "The answer is short."
	_, err = Ask(context.Background(), options(t, dir, j, recorder.Replay), other, pairs)
	require.ErrorAs(t, err, &missing, "another rubric is another question")
	live, err := Ask(context.Background(), options(t, t.TempDir(), j, recorder.Live), jury, pairs)
	require.NoError(t, err)
	require.Equal(t, better(swapped), better(live))
}

// A reply that is not a preference is asked for again, three times at most. A judge that gives none
// has failed: nothing is recorded, and the next recording asks again.
func TestAskAgain(t *testing.T) {
	dir, j := t.TempDir(), &judge{}
	j.reply = func(s, m string, n int) string {
		if strings.Contains(m, "Never") {
			return "I like both."
		}
		if n%2 == 1 {
			return `{"better": "both"}`
		}
		return sorry(s, m, n)
	}
	o := options(t, dir, j, recorder.Record)
	o.Concurrency = 1
	a, err := Ask(context.Background(), o, jury, pairsOf([2]string{"No.", "Sorry."}))
	require.NoError(t, err)
	require.Equal(t, 4, a.Calls)
	require.Contains(t, j.bodies[1], "Your reply is not a preference: better must be")
	require.Equal(t, rubric.Second, a.Answers[0].Orders[0].Better)

	j.bodies = nil
	a, err = Ask(context.Background(), o, jury, pairsOf([2]string{"No.", "Sorry."}, [2]string{"Never.", "Sorry."}))
	require.NoError(t, err)
	require.Equal(t, 2*rubric.Attempts, j.asked(), "the other pair is recorded")
	require.Contains(t, a.Answers[1].Orders[0].Failure, "judge tone gave no preference in 3 replies: not the JSON object")
	require.Equal(t, rubric.Second, a.Answers[0].Orders[0].Better)
	j.reply = sorry
	a, err = Ask(context.Background(), o, jury, pairsOf([2]string{"No.", "Sorry."}, [2]string{"Never.", "Sorry."}))
	require.NoError(t, err)
	require.Equal(t, rubric.Second, a.Answers[1].Orders[0].Better)
}

// A judge that the provider refuses says nothing about either.
func TestAskRefused(t *testing.T) {
	j := &judge{reply: func(string, string, int) string { return "" }}
	for _, mode := range []recorder.Mode{recorder.Record, recorder.Live} {
		a, err := Ask(context.Background(), options(t, t.TempDir(), j, mode), jury, pairsOf([2]string{"No.", "Sorry."}))
		require.NoError(t, err)
		require.Contains(t, a.Answers[0].Orders[1].Failure, "400")
	}
}

// A cap ends the run; a drained run ends, too. Neither loses what was recorded.
func TestAskContinues(t *testing.T) {
	dir, j := t.TempDir(), &judge{reply: sorry}
	var answers [][2]string
	for i := range 20 {
		answers = append(answers, [2]string{fmt.Sprint("No ", i), fmt.Sprint("Sorry ", i)})
	}
	pairs := pairsOf(answers...)
	o := options(t, dir, j, recorder.Record)
	o.Caps = admission.Caps{Requests: 15}
	a, err := Ask(context.Background(), o, jury, pairs)
	require.NoError(t, err)
	require.Equal(t, 15, j.asked())
	failed := 0
	for _, one := range a.Answers {
		for _, s := range one.Orders {
			if s.Failure != "" {
				failed++
			}
		}
	}
	require.Equal(t, 25, failed)

	drain := make(chan struct{})
	o.Caps = admission.Caps{}
	o.Drain, o.Concurrency = drain, 1
	o.Progress = func(p harness.Progress) {
		if p.Done == 10 {
			close(drain)
		}
	}
	a, err = Ask(context.Background(), o, jury, pairs)
	require.NoError(t, err)
	require.True(t, a.Interrupted)
	asked := j.asked()
	require.Less(t, asked, 40)
	require.GreaterOrEqual(t, asked, 25)

	a, err = Ask(context.Background(), options(t, dir, j, recorder.Record), jury, pairs)
	require.NoError(t, err)
	require.False(t, a.Interrupted)
	require.Equal(t, 40, a.Calls)
	require.LessOrEqual(t, j.asked(), 40+1, "at most the one request that was in flight is made twice")
	for _, one := range a.Answers {
		require.Equal(t, rubric.Second, one.Orders[0].Better)
	}
}

// Two candidates are equally good. A simulated judge of stated error rates often prefers what it
// sees first: asked in one order, it says that the baseline is better. Both orders remove that.
func TestSimulatedPositionBias(t *testing.T) {
	book, err := playbook.Read(fstest.MapFS{playbook.File: {Data: []byte("playbook: {}\njudges: {tone: {pass: 'answer contains \"Sorry\"', sensitivity: 0.95, specificity: 0.9, position_bias: 0.5}}")}},
		"s", nil, playbook.Judge{Name: "tone", Rubric: jury.Rubric, Simulated: true})
	require.NoError(t, err)
	j := &judge{reply: func(system, message string, _ int) string {
		h := fnv.New64a()
		_, _ = h.Write([]byte(message))
		said, _ := book.Verdict(system, message, playbook.Rates{}, float64(h.Sum64()>>11)/(1<<53))
		return said
	}}
	var answers [][2]string
	for i := range 200 {
		both := [2]string{fmt.Sprint("No ", i), fmt.Sprint("Sorry ", i)}
		if i%2 == 1 {
			both[0], both[1] = both[1], both[0]
		}
		answers = append(answers, both)
	}
	pairs := pairsOf(answers...)
	a, err := Ask(context.Background(), options(t, t.TempDir(), j, recorder.Live), jury, pairs)
	require.NoError(t, err)
	var both preference.Tally
	one := 0.0 // share of the new one if it is asked with the baseline first only
	for i, answer := range a.Answers {
		both.Add(pairs[i].Task, answer.Orders[0].Better, answer.Orders[1].Better)
		one += map[rubric.Better]float64{rubric.Second: 1, rubric.Tie: 0.5}[answer.Orders[0].Better] / 200
	}
	s := both.Summary(0.95)
	require.Less(t, one, 0.35)
	require.InDelta(t, 0.5, *s.Preferred.Value, 0.06)
	require.Less(t, s.Preferred.Interval.Low, 0.5)
	require.Greater(t, s.Preferred.Interval.High, 0.5)
	require.Greater(t, s.First.Interval.Low, 0.6, "the bias is reported")
	require.InDelta(t, 0.5*0.5+2*0.5*0.5*0.93, *s.Disagreement.Value, 0.12)
}
