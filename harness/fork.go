package harness

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Fork names a recorded episode, and the turn after which the episodes of a run
// go on from it.
type Fork struct {
	Task, Candidate string
	// Trial counts from 1; 0 means 1.
	Trial int
	// Turn is the last turn that is replayed, with all that came of it before the
	// next one; as transcripts and the ledger number them, from 1.
	Turn int
	// CassetteDigest is what the recorded episode's cassette must be, as the
	// ledger has it; empty takes any. A replay does not look at that cassette.
	CassetteDigest string
}

var forkText = regexp.MustCompile(`^([^/@]+)/([^/@]+)(?:/([1-9][0-9]{0,8}))?@([0-9]{1,9})$`)

// ParseFork reads TASK/CANDIDATE[/TRIAL]@TURN.
func ParseFork(text string) (Fork, error) {
	m := forkText.FindStringSubmatch(text)
	if m == nil {
		return Fork{}, fmt.Errorf("fork %.200q: write TASK/CANDIDATE[/TRIAL]@TURN, such as G09/weak/1@1", text)
	}
	f := Fork{Task: m[1], Candidate: m[2], Trial: 1}
	if m[3] != "" {
		f.Trial, _ = strconv.Atoi(m[3]) // digits
	}
	f.Turn, _ = strconv.Atoi(m[4])
	return f, nil
}

// String is the fork as ParseFork reads it.
func (f Fork) String() string {
	return fmt.Sprintf("%s/%s/%d@%d", f.Task, f.Candidate, max(f.Trial, 1), f.Turn)
}

// Name is what a candidate is called that goes on from the fork: it names the
// folder of its cassettes and its rows.
func (f Fork) Name(candidate string) string { return candidate + f.suffix() }

// Base is the candidate of such a name; a name of another kind is returned as it is.
func (f Fork) Base(name string) string { return strings.TrimSuffix(name, f.suffix()) }

func (f Fork) suffix() string {
	return fmt.Sprintf(".fork-%s-%d-%d", f.Candidate, max(f.Trial, 1), f.Turn)
}

// check says what no suite could make good.
func (f Fork) check(s Selection) error {
	switch {
	case f.Trial < 0 || f.Trial > maxTrials:
		return fmt.Errorf("fork %s: trial %d: must be 1 to %d", f, f.Trial, maxTrials)
	case f.Turn < 1:
		return fmt.Errorf("fork %s: turn %d: turns count from 1", f, f.Turn)
	case len(s.Tasks)+len(s.Tags) > 0:
		return fmt.Errorf("fork %s: the fork names its task: select candidates only", f)
	case f.Candidate == episode.ScriptedCandidate:
		return fmt.Errorf("fork %s: a scripted episode has no recorded turns to go on from", f)
	case strings.Contains(f.Candidate, ".fork-"):
		return fmt.Errorf("fork %s: it goes on from another episode itself: fork that one", f)
	}
	return nil
}

// command returns what a person types to record the fork's episodes.
func (f Fork) command(plain func(string, string, int) string, chosen []string) func(string, string, int) string {
	return func(_, candidate string, trial int) string {
		names := chosen
		if candidate != "" {
			names = []string{f.Base(candidate)}
		}
		cmd := plain("", "", trial) + " --fork " + f.String()
		if len(names) > 0 {
			cmd += " --candidate " + strings.Join(names, ",")
		}
		return cmd
	}
}

// manifestFork says what the run goes on from; nil when it is no fork.
func manifestFork(r *runner) *manifest.Fork {
	if r.Fork == nil || r.plan.len() == 0 {
		return nil
	}
	p := r.plan.at(0).Fork
	return &manifest.Fork{
		Task: p.Task.ID, Candidate: p.Candidate.Name, Trial: p.Trial, Turn: p.Turn,
		Cassette: p.Cassette, CassetteDigest: p.Digest,
	}
}
