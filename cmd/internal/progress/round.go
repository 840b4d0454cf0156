package progress

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// roundEvent says what a round decided.
type roundEvent struct {
	Event string `json:"event"`
	// Round of Rounds has been judged. Episodes are those of all rounds so far.
	Round    int             `json:"round"`
	Rounds   int             `json:"rounds"`
	Episodes int             `json:"episodes"`
	Stops    []manifest.Stop `json:"stops"`
	Continue []string        `json:"continue"`
}

// Round prints what the last round decided: see Display.Round.
func (e *Events) Round(m manifest.Manifest, stops []manifest.Stop) { e.emit(newRound(m, stops)) }

func newRound(m manifest.Manifest, stops []manifest.Stop) roundEvent {
	e := roundEvent{Event: "round", Round: m.Decide.Finished, Rounds: len(m.Decide.Rounds), Stops: append([]manifest.Stop{}, stops...), Continue: []string{}}
	for _, c := range m.Candidates {
		e.Episodes += c.Planned
		_, before := m.Decide.Stop(c.Name)
		if !before && !slices.ContainsFunc(stops, func(s manifest.Stop) bool { return s.Candidate == c.Name }) {
			e.Continue = append(e.Continue, c.Name)
		}
	}
	return e
}

// line is the round in words.
func (e roundEvent) line() string {
	var parts []string
	for _, s := range e.Stops {
		parts = append(parts, fmt.Sprintf("%s %s", s.Candidate, stopWords[stat.Verdict(s.Verdict)]))
	}
	if len(e.Continue) > 0 {
		parts = append(parts, "undecided: "+strings.Join(e.Continue, ", "))
	}
	return console.OneLine(fmt.Sprintf("round %d of %d: %s", e.Round, e.Rounds, strings.Join(parts, "; ")), 300)
}

var stopWords = map[stat.Verdict]string{
	stat.Pass: "passes", stat.NoRegression: "has no significant regression", stat.Fail: "fails",
	stat.Inconclusive: "stays inconclusive", stat.NotJudged: "is not judged",
}
