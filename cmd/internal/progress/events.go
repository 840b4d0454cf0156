package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/reports/model"
)

// Events print a run as it happens, one JSON object a line; docs/runs.md says
// what is in them. Whatever happens, the last one is an end or an error.
type Events struct {
	out io.Writer
	// Mode is that of the run; set it before the run begins.
	Mode  recorder.Mode
	begun bool
	why   string // it was stopped, as far as that was said
	ended bool
	err   error // of writing
}

// NewEvents prints to a writer, each event as it happens.
func NewEvents(out io.Writer) *Events { return &Events{out: out} }

// Bounds of what an event quotes, in characters.
const (
	maxEventName = 200
	maxEventText = 500
)

type startEvent struct {
	Event    string `json:"event"`
	RunID    string `json:"run_id"`
	Dir      string `json:"dir"`
	Mode     string `json:"mode"`
	Episodes int    `json:"episodes"`
	Resumed  int    `json:"resumed"`
}

type episodeEvent struct {
	Event     string       `json:"event"`
	Task      string       `json:"task"`
	Candidate string       `json:"candidate"`
	Trial     int32        `json:"trial"`
	Status    string       `json:"status"`
	Solved    bool         `json:"solved"`
	Harm      *bool        `json:"harm"` // null where the task's world cannot change
	Steps     int32        `json:"steps"`
	CostUSD   *json.Number `json:"cost_usd"`
	ElapsedUs *int64       `json:"elapsed_us"`
	ErrorKind string       `json:"error_kind"`
	ErrorText string       `json:"error_text"`
	Done      int          `json:"done"`
	Total     int          `json:"total"`
}

type limitEvent struct {
	Event    string `json:"event"`
	Provider string `json:"provider"`
	Lane     int    `json:"lane"`
	Limit    int    `json:"limit"`
	Why      string `json:"why"`
	// Until is RFC 3339, null unless the lane is paused or its requests are GapUs
	// apart until then.
	Until *string `json:"until"`
	GapUs int64   `json:"gap_us"`
}

type stoppedEvent struct {
	Event string `json:"event"`
	Why   string `json:"why"`
}

type errorEvent struct {
	Event    string `json:"event"`
	Message  string `json:"message"`
	ExitCode int    `json:"exit_code"`
}

// idleEvent ends a run that had nothing to do.
type idleEvent struct {
	Event    string `json:"event"`
	Status   string `json:"status"`
	Message  string `json:"message"`
	ExitCode int    `json:"exit_code"`
}

type endEvent struct {
	Event        string            `json:"event"`
	RunID        string            `json:"run_id"`
	Dir          string            `json:"dir"`
	Status       string            `json:"status"`
	LedgerDigest string            `json:"ledger_digest"`
	Verdict      string            `json:"verdict"`
	Interrupted  bool              `json:"interrupted"`
	Stopped      string            `json:"stopped"`
	Outcomes     manifest.Outcomes `json:"outcomes"`
	Decided      *decidedEvent     `json:"decided,omitempty"`
	Resume       *string           `json:"resume"` // null for a complete run
	ExitCode     int               `json:"exit_code"`
}

// decidedEvent says what a run with --decide had, of what it could have had.
type decidedEvent struct {
	Rounds       int `json:"rounds"`
	OfRounds     int `json:"of_rounds"`
	Episodes     int `json:"episodes"`
	MostEpisodes int `json:"most_episodes"`
}

func (e *Events) emit(event any) {
	text, err := json.Marshal(event)
	if err == nil { // each of them is made of strings and numbers
		_, err = e.out.Write(append(text, '\n')) // immediately, for readers of a pipe
	}
	if e.err == nil && err != nil {
		e.err = fmt.Errorf("write events to standard output: %w", err)
	}
}

// Watch takes the state of a run that begins, and between its episodes.
func (e *Events) Watch(s harness.Progress) {
	if !e.begun {
		e.begun = true
		e.emit(startEvent{"start", s.RunID, s.Dir, string(e.Mode), s.Total, s.Resumed})
	}
	if c := s.Change; c != nil {
		limit := limitEvent{Event: "limit", Provider: c.Provider, Lane: c.Lane, Limit: c.Limit, Why: string(c.Why), GapUs: c.Gap.Microseconds()}
		if !c.Until.IsZero() {
			limit.Until = new(c.Until.UTC().Format(time.RFC3339Nano))
		}
		e.emit(limit)
	}
	e.stopped(s.Stopping)
}

// Episode takes the state after an episode.
func (e *Events) Episode(s harness.Progress) {
	l := s.Last
	event := episodeEvent{
		Event: "episode", Task: clip.Fit(l.TaskID, maxEventName), Candidate: clip.Fit(l.Candidate, maxEventName), Trial: l.Trial,
		Status: l.Status, Solved: l.Solved, Harm: l.Harm, Steps: l.Steps, ElapsedUs: l.ElapsedUs,
		ErrorKind: l.ErrorKind, ErrorText: clip.Fit(l.ErrorText, maxEventText), Done: s.Done, Total: s.Total,
	}
	if l.CostNanoUSD != nil {
		event.CostUSD = new(json.Number(console.USD(*l.CostNanoUSD)))
	}
	e.emit(event)
	e.stopped(s.Stopping)
}

// stopped says once for each cause why no more episodes start.
func (e *Events) stopped(why string) {
	if why != "" && why != e.why {
		e.why = why
		e.emit(stoppedEvent{"stopped", clip.Fit(why, maxEventText)})
	}
}

// End prints the result, and for a partial run the command resume; err is what the exit code follows from.
func (e *Events) End(res harness.Result, report model.Report, resume string, err error) {
	m := res.Manifest
	e.stopped(m.Stopped)
	event := endEvent{
		"end", m.RunID, res.Dir, m.Status, m.LedgerDigest, string(report.Verdict), res.Interrupted, clip.Fit(m.Stopped, maxEventText),
		m.Outcomes, nil, nil, exit.Code(err),
	}
	if d := m.Decide; d != nil {
		event.Decided = &decidedEvent{d.Finished, len(d.Rounds), m.Episodes, m.MostEpisodes()}
	}
	if m.Status == "partial" {
		event.Resume = &resume
	}
	e.ended = true
	e.emit(event)
}

// Idle ends a run that had nothing to do.
func (e *Events) Idle(status string, text error) {
	e.ended = true
	e.emit(idleEvent{"end", status, clip.Fit(text.Error(), maxEventText), exit.Accepted})
}

// Close prints an error that comes in place of a result. It returns the error for
// the exit code.
func (e *Events) Close(err error) error {
	if err != nil && !e.ended {
		e.emit(errorEvent{"error", clip.Fit(err.Error(), 8*maxEventText), exit.Code(err)})
	}
	if err == nil {
		err = e.err
	}
	return err
}
