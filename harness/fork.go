package harness

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// Fork names a recorded episode and the turn after which the episodes of a run continue
// from it.
type Fork struct {
	Task, Candidate string
	// Trial counts from 1; 0 means 1.
	Trial int
	// Turn is the last turn that is replayed, including its results up to the next turn. Like
	// transcripts and the ledger it counts from 1.
	Turn int
	// Answer, in place of Turn, continues an episode that awaits input from its end: it is
	// given to every open request. It is approve, deny or skip, or feedback, answer or select
	// with a colon and a text.
	Answer string `json:",omitempty"`
	// CassetteDigest is the required digest of the recorded episode's cassette, as in the
	// ledger; empty accepts any. A replay does not check it.
	CassetteDigest string
}

var forkText = lazyregexp.New(`^([^/@]+)/([^/@]+)(?:/([1-9][0-9]{0,8}))?@(?:([0-9]{1,9})|(approve|deny|skip|(?:feedback|answer|select):.+))$`)

// ParseFork reads TASK/CANDIDATE[/TRIAL]@TURN or, with an answer, TASK/CANDIDATE[/TRIAL]@ANSWER.
func ParseFork(text string) (Fork, error) {
	m := forkText.FindStringSubmatch(text)
	if m == nil {
		return Fork{}, fmt.Errorf("fork %.200q: write TASK/CANDIDATE[/TRIAL]@TURN, such as G09/weak/1@1, or @approve, @deny or @answer:TEXT for an episode that awaits input", text)
	}
	f := Fork{Task: m[1], Candidate: m[2], Trial: 1}
	if m[3] != "" {
		f.Trial, _ = strconv.Atoi(m[3]) // digits
	}
	f.Turn, _ = strconv.Atoi(m[4]) // 0 with an answer
	f.Answer = m[5]
	return f, nil
}

// String is the fork as ParseFork reads it.
func (f Fork) String() string {
	return fmt.Sprintf("%s/%s/%d@%s", f.Task, f.Candidate, max(f.Trial, 1), cmp.Or(f.Answer, strconv.Itoa(f.Turn)))
}

// answer is what is said to the open requests; nil without an answer.
func (f Fork) answer() *person.Answer {
	if f.Answer == "" {
		return nil
	}
	say, text, _ := strings.Cut(f.Answer, ":")
	return &person.Answer{Say: say, Text: strings.TrimSpace(text)}
}

// answerText is the inverse of answer.
func answerText(a *person.Answer) string {
	switch {
	case a == nil:
		return ""
	case a.Text == "":
		return a.Say
	}
	return a.Say + ":" + a.Text
}

// Name is the name of a candidate in the fork; it names the folder of its cassettes and its
// rows.
func (f Fork) Name(candidate string) string { return candidate + f.suffix() }

// Base is the candidate of such a name; it returns any other name unchanged.
func (f Fork) Base(name string) string { return strings.TrimSuffix(name, f.suffix()) }

func (f Fork) suffix() string {
	at := strconv.Itoa(f.Turn)
	if say, text, more := strings.Cut(f.Answer, ":"); say != "" {
		if at = say; more {
			at += "-" + drive.DigestOf(text)[:8]
		}
	}
	return fmt.Sprintf(".fork-%s-%d-%s", f.Candidate, max(f.Trial, 1), at)
}

// check rejects a fork that is invalid for every suite.
func (f Fork) check(s Selection) error {
	switch {
	case f.Trial < 0 || f.Trial > maxTrials:
		return fmt.Errorf("fork %s: trial %d: must be 1 to %d", f, f.Trial, maxTrials)
	case f.Turn < 1 && f.Answer == "":
		return fmt.Errorf("fork %s: turn %d: turns count from 1", f, f.Turn)
	case len(s.Tasks)+len(s.Tags) > 0:
		return fmt.Errorf("fork %s: the fork names its task: select candidates only", f)
	case f.Candidate == episode.ScriptedCandidate:
		return fmt.Errorf("fork %s: a scripted episode has no recorded turns to continue from", f)
	case strings.Contains(f.Candidate, ".fork-"):
		return fmt.Errorf("fork %s: the episode is itself a fork; fork its source episode", f)
	}
	return nil
}

// manifestFork returns the fork of the run for the manifest; nil if the run is not a fork.
func manifestFork(r *runner) *manifest.Fork {
	if r.Fork == nil || r.plan.len() == 0 {
		return nil
	}
	p := r.plan.at(0).Fork
	return &manifest.Fork{
		Task: p.Task.ID, Candidate: p.Candidate.Name, Trial: p.Trial, Turn: p.Turn, Answer: r.Fork.Answer,
		Cassette: p.Cassette, CassetteDigest: p.Digest,
	}
}
