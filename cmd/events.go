package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports"
)

// events print a run as it happens, one JSON object a line; docs/formats.md says
// what is in them. Whatever happens, the last one is an end or an error.
type events struct {
	out   io.Writer
	mode  string
	begun bool
	why   string // it was stopped, as far as that was said
	ended bool
	err   error // of writing
}

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
	Steps     int32        `json:"steps"`
	CostUSD   *json.Number `json:"cost_usd"`
	ElapsedUs int64        `json:"elapsed_us"`
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

func (e *events) emit(event any) {
	text, err := json.Marshal(event)
	if err == nil { // each of them is made of strings and numbers
		_, err = e.out.Write(append(text, '\n')) // at once, for who reads along
	}
	if e.err == nil && err != nil {
		e.err = fmt.Errorf("write events to standard output: %w", err)
	}
}

// watch takes the state of a run that begins, and between its episodes.
func (e *events) watch(s harness.Progress) {
	if !e.begun {
		e.begun = true
		e.emit(startEvent{"start", s.RunID, s.Dir, e.mode, s.Total, s.Resumed})
	}
	if c := s.Change; c != nil {
		limit := limitEvent{Event: "limit", Provider: c.Provider, Lane: c.Lane, Limit: c.Limit, Why: string(c.Why), GapUs: c.Gap.Microseconds()}
		if !c.Until.IsZero() {
			until := c.Until.UTC().Format(time.RFC3339Nano)
			limit.Until = &until
		}
		e.emit(limit)
	}
	e.stopped(s.Stopping)
}

// episode takes the state after an episode.
func (e *events) episode(s harness.Progress) {
	l := s.Last
	event := episodeEvent{
		Event: "episode", Task: clipped(l.TaskID, maxEventName), Candidate: clipped(l.Candidate, maxEventName), Trial: l.Trial,
		Status: l.Status, Solved: l.Solved, Steps: l.Steps, ElapsedUs: l.ElapsedUs,
		ErrorKind: l.ErrorKind, ErrorText: clipped(l.ErrorText, maxEventText), Done: s.Done, Total: s.Total,
	}
	if l.CostNanoUSD != nil {
		cost := json.Number(exactUSD(*l.CostNanoUSD))
		event.CostUSD = &cost
	}
	e.emit(event)
	e.stopped(s.Stopping)
}

// stopped says once for each cause why no more episodes are begun.
func (e *events) stopped(why string) {
	if why != "" && why != e.why {
		e.why = why
		e.emit(stoppedEvent{"stopped", clipped(why, maxEventText)})
	}
}

// end prints the result; err is what the exit code follows from.
func (e *events) end(res harness.Result, report reports.Report, err error) {
	m := res.Manifest
	e.stopped(m.Stopped)
	event := endEvent{
		"end", m.RunID, res.Dir, m.Status, m.LedgerDigest, string(report.Verdict), res.Interrupted, clipped(m.Stopped, maxEventText),
		m.Outcomes, nil, nil, exit.Code(err),
	}
	if d := m.Decide; d != nil {
		event.Decided = &decidedEvent{d.Finished, len(d.Rounds), m.Episodes, m.MostEpisodes()}
	}
	if m.Status == "partial" {
		hint := resumeHint(res.Dir)
		event.Resume = &hint
	}
	e.ended = true
	e.emit(event)
}

// idle ends a run that had nothing to do.
func (e *events) idle(status string, text error) {
	e.ended = true
	e.emit(idleEvent{"end", status, clipped(text.Error(), maxEventText), exit.Accepted})
}

// close prints an error that comes in place of a result. It returns the error for
// the exit code.
func (e *events) close(err error) error {
	if err != nil && !e.ended {
		e.emit(errorEvent{"error", clipped(err.Error(), 8*maxEventText), exit.Code(err)})
	}
	if err == nil {
		err = e.err
	}
	return err
}
