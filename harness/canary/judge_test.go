package canary

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

var start = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)

// nightOf returns the observation of a day. Its answers cycle through the texts.
func nightOf(n int, served string, texts ...string) Observation {
	o := Observation{Model: Model{Provider: "openai", Model: "gpt-x"}, Set: "s", At: start.AddDate(0, 0, n), Served: Names([]string{served})}
	for q := range Prompts() {
		tokens := int64(10 * (q + 1))
		o.Answers = append(o.Answers, NewAnswer(fmt.Sprint(texts[q%len(texts)], q), &tokens, nil))
	}
	return o
}

// judgeAll judges each observation, given those before it. It returns the last result.
func judgeAll(all ...Observation) (history []Observation, last manifest.Canary) {
	for _, o := range all {
		o, f := Judge(history, o)
		history, last = append(history, o), f
	}
	return history, last
}

func series(nights int) (all []Observation) {
	for n := range nights {
		all = append(all, nightOf(n, "gpt-x-1", "a"))
	}
	return all
}

func TestAnotherServedNameIsAChangeAtOnce(t *testing.T) {
	all := append(series(2), nightOf(2, "gpt-x-2", "a"))
	all[1].Fingerprints, all[2].Fingerprints = []string{"fp_1"}, []string{"fp_2"}
	history, f := judgeAll(all...)
	require.Equal(t, manifest.CanaryChanged, f.Status)
	require.Equal(t, "2026-11-03T03:00:00Z", f.ChangedOn)
	require.Equal(t, []string{"served model gpt-x-1 → gpt-x-2", "fingerprint fp_1 → fp_2"}, f.Evidence)
	require.True(t, history[2].Change.Certain)
	require.Equal(t, all[1].At, history[2].Change.Since)

	// The next night is compared with the new name, and still says when it changed.
	history, f = judgeAll(append(all, nightOf(3, "gpt-x-2", "a"))...)
	require.Equal(t, manifest.CanaryTooFew, f.Status)
	require.Equal(t, 2, f.Nights)
	require.Equal(t, "2026-11-03T03:00:00Z", f.ChangedOn)
	require.Nil(t, history[3].Change)
	// The old name again is a second change.
	_, f = judgeAll(append(all, nightOf(3, "gpt-x-2", "a"), nightOf(4, "gpt-x-1", "a"))...)
	require.Equal(t, "2026-11-05T03:00:00Z", f.ChangedOn)
}

func TestAFingerprintIsNamedButNotAChange(t *testing.T) {
	all := series(3)
	all[0].Fingerprints, all[1].Fingerprints, all[2].Fingerprints = []string{"fp_1"}, []string{"fp_1"}, []string{"fp_2"}
	_, f := judgeAll(all...)
	require.Equal(t, manifest.CanaryTooFew, f.Status)
	require.Equal(t, []string{"fingerprint fp_1 → fp_2"}, f.Evidence)
	require.Empty(t, f.ChangedOn)
}

// If a model always gives the same answers, only the number of nights decides: the test
// needs two of 22, or three of 13.
func TestOtherAnswersAreAChangeAfterSomeNights(t *testing.T) {
	for _, c := range []struct{ before, nights int }{{10, 3}, {20, 2}, {7, 4}} {
		all := series(c.before)
		for n := range c.nights {
			history, f := judgeAll(all...)
			require.NotEqual(t, manifest.CanaryChanged, f.Status, "%d nights", n)
			require.Empty(t, Changes(history, all[0].Model))
			all = append(all, nightOf(c.before+n, "gpt-x-1", "a", "a", "b"))
		}
		history, f := judgeAll(all...)
		require.Equal(t, manifest.CanaryChanged, f.Status)
		require.Equal(t, c.nights, f.Nights)
		require.Equal(t, all[c.before].At.Format(time.RFC3339), f.ChangedOn, "the first night after")
		require.LessOrEqual(t, *f.P, Level)
		require.Contains(t, f.Evidence[0], "3.0 of 10 answers differ where 0.0 is usual")
		change, ok := Last(history, Model{Provider: "openai", Model: "gpt-x"}, all[len(all)-1].At)
		require.True(t, ok)
		require.Equal(t, all[c.before-1].At, change.Since)
		_, ok = Last(history, Model{Provider: "openai", Model: "gpt-x"}, change.On.Add(-1))
		require.False(t, ok, "it had not happened")
		_, ok = Last(history, Model{Provider: "openai", Model: "gpt-x", BaseURL: "https://elsewhere"}, change.On)
		require.False(t, ok)
	}
}

func TestLengthAndProbabilityAreEvidence(t *testing.T) {
	all := series(20)
	for n := range 20 {
		for q := range all[n].Answers {
			p := -0.10 - float64((n*7+q)%5)/1000
			all[n].Answers[q].LogProb = &p
		}
	}
	for n := 20; n < 24; n++ {
		o := nightOf(n, "gpt-x-1", "a")
		for q := range o.Answers {
			p := -0.2 - float64(n%3)/1000
			longer := *o.Answers[q].Tokens * 13 / 10
			o.Answers[q].Tokens, o.Answers[q].LogProb = &longer, &p
		}
		all = append(all, o)
	}
	history, _ := judgeAll(all...)
	changes := Changes(history, all[0].Model)
	require.Len(t, changes, 1)
	require.Equal(t, all[20].At, changes[0].On)
	require.Len(t, changes[0].Evidence, 3)
	require.Contains(t, changes[0].Evidence[0], "0.0 of 10 answers differ")
	require.Contains(t, changes[0].Evidence[1], "output 30% longer")
	require.Contains(t, changes[0].Evidence[2], "mean log probability of a token -0.102 → -0.20")
}

// A measurement that some nights lack is ignored, and is not a change.
func TestAMeasurementThatBeginsIsNotAChange(t *testing.T) {
	all := series(24)
	for n := 20; n < 24; n++ {
		for q := range all[n].Answers {
			p := -0.2
			all[n].Answers[q].Tokens, all[n].Answers[q].LogProb = nil, &p
		}
	}
	_, f := judgeAll(all...)
	require.Equal(t, manifest.CanaryUnchanged, f.Status)
	require.Equal(t, 24, f.Nights)
}

func TestNightsOfOthersDoNotCount(t *testing.T) {
	all := series(12)
	all[3].Set = "other"
	all[4].BaseURL = "https://elsewhere"
	all[5].Answers, all[5].Problem = nil, "prompt sort: timeout"
	all[7].At = all[6].At.Add(time.Hour) // on the same day
	_, f := judgeAll(all...)
	require.Equal(t, 8, f.Nights)
	require.Equal(t, manifest.CanaryTooFew, f.Status)

	_, f = judgeAll(all[:6]...)
	require.Equal(t, manifest.CanaryUnknown, f.Status)
	require.Equal(t, "prompt sort: timeout", f.Problem)
}

func TestToday(t *testing.T) {
	all := series(3)
	now := Observation{Model: all[0].Model, Set: "s", At: all[1].At.Add(time.Hour)}
	o, ok := Today(all, now)
	require.True(t, ok)
	require.Equal(t, all[1].At, o.At)
	now.Set = "other"
	_, ok = Today(all, now)
	require.False(t, ok)
	now.Set, now.At = "s", all[2].At.Add(24*time.Hour)
	_, ok = Today(all, now)
	require.False(t, ok)
}

func TestAnswersAreNormalisedAndBounded(t *testing.T) {
	require.Equal(t, NewAnswer("  Ulan\n Bator ", nil, nil).Digest, NewAnswer("ulan bator", nil, nil).Digest)
	require.NotEqual(t, NewAnswer("a", nil, nil).Digest, NewAnswer("b", nil, nil).Digest)
	long := make([]byte, 1<<20)
	for i := range long {
		long[i] = 'x'
	}
	a := NewAnswer(string(long), nil, nil)
	require.Len(t, a.Start, maxStart)
	require.Equal(t, a.Digest, NewAnswer(string(long[:maxAnswer]), nil, nil).Digest)
	require.Equal(t, []string{"a", "b"}, Names([]string{"b", "", "a", "b"}))
}

func TestSetCoversPromptsAndSettings(t *testing.T) {
	require.Equal(t, Set("a"), Set("a"))
	require.NotEqual(t, Set("a"), Set("b"))
	require.NotEqual(t, Set("a", "b"), Set("ab"))
	require.NotEqual(t, Set("a\x00b"), Set("a", "b"))
}
