package model

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/reports/transcript"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxKept bounds what is kept of transcripts: one for each turn, and five for each
// episode. It is 10,000 episodes of five turns, about 25 MB.
const maxKept = 100_000

// keptTranscript is what is shown of an episode beyond its outcome. It holds no rows.
type keptTranscript struct {
	View   transcript.Episode
	Checks string // the first failing ones, one a line
}

func newKeptTranscript(rows ledger.EpisodeRows, why string) *keptTranscript {
	return &keptTranscript{View: transcript.Of(rows, why), Checks: failedChecks(rows.Episode.Checks, why, 10)}
}

// transcriptSelection chooses whose transcripts are kept: the model's failures first, then
// episodes without a result, then solved ones, each in the ledger's order.
type transcriptSelection struct {
	ranks [Ranks][]selected
	used  int
}

// selected is a transcript that is kept: the index of its episode, and what it takes.
type selected struct{ episode, width int }

// How much there is to see in an episode, the most first.
const (
	rankFailed = iota
	rankExcluded
	rankSolved
)

// Ranks is how many ranks episodes have; see Episode.Rank.
const Ranks = rankSolved + 1

// Rank orders episodes by how much there is to see in them: 0 for one that the model
// failed, 1 for one without a result, Ranks-1 for a solved one.
func (e *Episode) Rank() int {
	switch {
	case e.Solved:
		return rankSolved
	case e.Excluded != "":
		return rankExcluded
	}
	return rankFailed
}

// place says whether the last of the episodes, which has the given turns, is to
// be kept, and lets go of others for it.
func (s *transcriptSelection) place(episodes []Episode, turns int) bool {
	i := len(episodes) - 1
	own := episodes[i].Rank()
	b := selected{i, 5 + min(turns, transcript.MaxTurns)}
	s.ranks[own] = append(s.ranks[own], b)
	s.used += b.width
	for at := len(s.ranks) - 1; s.used > maxKept; {
		last := len(s.ranks[at]) - 1
		if last < 0 {
			at--
			continue
		}
		out := s.ranks[at][last]
		episodes[out.episode].Kept = nil
		s.ranks[at] = s.ranks[at][:last]
		s.used -= out.width
	}
	last := len(s.ranks[own]) - 1
	return last >= 0 && s.ranks[own][last] == b
}

var plainID = lazyregexp.New(`\A[A-Za-z0-9][A-Za-z0-9_-]{0,63}\z`)

// addAnchors names the kept transcripts: by the id of their episode where that is
// plain and no other's.
func (r *Report) addAnchors() {
	seen := map[string]bool{}
	for i := range r.Episodes {
		e := &r.Episodes[i]
		if e.Kept == nil {
			continue
		}
		e.Anchor = fmt.Sprintf("ep--%d", i)
		if plainID.MatchString(e.ID) && !seen[e.ID] {
			e.Anchor = "ep-" + e.ID
		}
		seen[e.ID] = true
	}
}

// failedChecks lists the first failing checks, one a line.
func failedChecks(checks []ledger.Check, why string, limit int) string {
	var lines []string
	more := 0
	for _, c := range checks {
		switch {
		case c.Passed:
		case len(lines) == limit:
			more++
		default:
			lines = append(lines, words.Clip(words.Join(": ", c.Name, c.Detail), 500))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, words.Clip(why, 500))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Clone(strings.Join(lines, "\n"))
}
