// Package transcripts executes the episodes of a run again from their cassettes, so that
// its report can show prompts and outputs.
package transcripts

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/recorder/secrets"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// Transcripts executes episodes of one run again, on demand, to get their prompts and
// outputs. It opens nothing before the first. Use it in one goroutine, and Close it.
type Transcripts struct {
	redact   func(field, text string) string
	ctx      context.Context // until a signal
	unnotify func()
	dir      string
	// load are the options the run was made with; cleanup is never nil.
	load func(m manifest.Manifest) (o harness.Options, cleanup func(), err error)
	// Kept has the details that a replay has just kept; nil otherwise.
	Kept *Kept
	// Tasks are those of the run; if nil, the first episode reads them from its suite.
	Tasks []goldens.Task
	at    map[string]int // places in Tasks by id; nil before the first episode
	// Hurry executes nothing again, because the run was interrupted and should end soon.
	Hurry bool

	replayer *rerun.Replayer
	imported *imports.Texts // in place of the replayer
	opened   bool
	missing  string // why no episode has any; empty if some may
	cleanup  func()

	next func() (ledger.EpisodeRows, error, bool) // of the ledger; nil before the first
	stop func()
	last ledger.EpisodeRows // that next returned
}

// New returns the transcripts of the run in dir. The first Ctrl-C ends the executions, the
// second the process.
func New(ctx context.Context, dir string, redact func(field, text string) string, load func(manifest.Manifest) (harness.Options, func(), error)) *Transcripts {
	ctx, unnotify := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, unnotify)
	return &Transcripts{redact: redact, ctx: ctx, unnotify: unnotify, dir: dir, load: load, cleanup: func() {}, stop: func() {}}
}

// Close releases suite, ledger and signals. It returns an error if a signal arrived before.
func (d *Transcripts) Close() error {
	err := d.ctx.Err()
	d.unnotify()
	d.stop()
	if d.replayer != nil {
		d.replayer.Close()
	}
	if d.imported != nil {
		_ = d.imported.Close() // which was only read
	}
	d.cleanup()
	if err != nil {
		return exit.With(exit.Interrupted, fmt.Errorf("interrupted: the report lacks prompts and outputs; the ledger in %s is complete; retry with: cupel report %s", d.dir, d.dir))
	}
	return nil
}

// Episode is a html.DetailOf.
func (d *Transcripts) Episode(e model.Episode) (transcript.Detail, bool) {
	if detail, ok := d.Kept.Of(e.ID); ok {
		detail.Expected = d.expected(e.Task)
		return detail, true
	}
	if d.Hurry {
		return transcript.Detail{Missing: "the run was interrupted: make its report again with cupel report to see what was said"}, false
	}
	rows, ok := d.Find(ledger.Key{TaskID: e.Task, Candidate: e.Candidate, Trial: int32(e.Trial)})
	if !ok || rows.Episode.EpisodeID != e.ID {
		return transcript.Detail{Missing: "the ledger has no such episode"}, false
	}
	return d.Of(rows)
}

// Find reads forward in the ledger to an episode, and from the start if it is behind.
func (d *Transcripts) Find(k ledger.Key) (ledger.EpisodeRows, bool) {
	if d.next != nil && k.Compare(d.last.Episode.Key) < 0 {
		d.stop()
		d.next = nil
	}
	if d.next == nil {
		_, episodes, err := harness.ReadRun(d.dir)
		if err != nil {
			return ledger.EpisodeRows{}, false
		}
		d.next, d.stop = iter.Pull2(episodes)
		d.last = ledger.EpisodeRows{}
	}
	for d.last.Episode.Compare(k) < 0 {
		rows, err, more := d.next()
		if !more || err != nil {
			return ledger.EpisodeRows{}, false
		}
		d.last = rows
	}
	return d.last, d.last.Episode.Compare(k) == 0
}

// Of returns the detail of the episode with these rows. ok is false, and Missing says why,
// if the episode cannot be executed again or differs from its rows.
func (d *Transcripts) Of(rows ledger.EpisodeRows) (transcript.Detail, bool) {
	if !d.opened {
		if err := d.Open(); err != nil {
			d.missing = firstLine(err)
		}
	}
	if d.missing != "" {
		return transcript.Detail{Missing: d.missing}, false
	}
	var traces []episode.Trace
	var err error
	if d.imported != nil {
		traces, err = d.imported.Traces(rows)
	} else {
		traces, err = d.replayer.Again(d.ctx, rows)
	}
	if err != nil {
		return transcript.Detail{Missing: whyMissing(err)}, false
	}
	detail := newDetailBuilder(d.redact).detail(traces)
	detail.Expected = d.expected(rows.Episode.TaskID)
	return detail, true
}

// Open loads the suite and the cassettes. Of calls it, and reports its error as Missing.
func (d *Transcripts) Open() error {
	d.opened, d.at = true, nil
	m, err := manifest.Read(d.dir)
	if err != nil {
		return err
	}
	if m.Imported.Format != "" {
		d.Tasks = []goldens.Task{}
		d.imported, err = imports.OpenTexts(d.dir, m)
		return err
	}
	o, cleanup, err := d.load(m)
	d.cleanup = cleanup
	if err != nil {
		return err
	}
	d.Tasks = o.Suite.Tasks
	d.replayer, err = rerun.NewReplayer(o, m)
	return err
}

// whyMissing is the reason in general terms, so that a report groups equal reasons;
// "cupel show" has the details.
func whyMissing(err error) string {
	var no *rerun.NoReplayError
	if !errors.As(err, &no) {
		return firstLine(err)
	}
	switch no.Kind {
	case rerun.KindLive:
		return "a live run stores no prompts or replies"
	case rerun.KindLost:
		return "an episode without a result has no cassette"
	case rerun.KindGone:
		return "the suite or the configuration no longer has the episode"
	case episode.KindCassetteMissing:
		return "there is no cassette"
	case episode.KindCassetteCorrupt:
		return "the cassette cannot be trusted"
	}
	return "the re-execution differs: suite, code or cassette changed since the run"
}

// firstLine is the first line of an error, bounded and without credentials.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return (*secrets.Finder)(nil).Redact("detail", fmt.Sprintf("%.300s", line))
}

// Bounds of a detail in bytes: of one text, and of all.
const (
	maxDetailText = 64 << 10
	maxDetail     = 1 << 20
	maxChanges    = 50 // lines
)

// detailBuilder builds a detail within the bounds.
type detailBuilder struct {
	d      transcript.Detail
	redact func(field, text string) string
	left   int             // bytes
	shown  map[string]bool // prompt lines of earlier turns
	now    []string        // prompt lines of this turn
	system string          // system prompt of the turn before
	early  []transcript.DetailUpdate
}

func newDetailBuilder(redact func(field, text string) string) *detailBuilder {
	return &detailBuilder{redact: redact, left: maxDetail, shown: map[string]bool{}}
}

// detail converts the traces of an episode to the detail that a report shows.
func (b *detailBuilder) detail(traces []episode.Trace) transcript.Detail {
	for _, t := range sortByTurn(traces) {
		switch {
		case t.Finish != nil:
			b.d.Answer = b.text("answer", t.Finish.Answer)
			if t.Outcome != nil {
				changes, _ := episode.StateChanges(*t.Outcome, maxChanges)
				b.d.State = b.text("state", strings.Join(changes, "\n"))
			}
		case b.left <= 0:
			if t.Call != nil {
				b.d.More++
			}
		case t.Call != nil:
			b.turn(t)
		case len(b.d.Turns) == 0 && t.Update != nil:
			b.early = append(b.early, b.update(t.Update))
		case len(b.d.Turns) > 0 && t.Update != nil:
			last := &b.d.Turns[len(b.d.Turns)-1]
			last.Updates = append(last.Updates, b.update(t.Update))
		case len(b.d.Turns) > 0:
			last := &b.d.Turns[len(b.d.Turns)-1]
			last.Steps = append(last.Steps, b.step(t))
		}
	}
	return b.d
}

// sortByTurn sorts traces by the number of their turn, as in the ledger: parallel turns
// end in another order.
func sortByTurn(traces []episode.Trace) []episode.Trace {
	turns, turn := map[int32][]episode.Trace{}, int32(0)
	for _, t := range traces {
		switch {
		case t.Turn != nil:
			turn = t.Turn.Turn
		case t.Finish != nil:
			turn = math.MaxInt32
		}
		turns[turn] = append(turns[turn], t)
	}
	var sorted []episode.Trace
	for _, turn := range slices.Sorted(maps.Keys(turns)) {
		sorted = append(sorted, turns[turn]...)
	}
	return sorted
}

func (b *detailBuilder) update(u *agent.Update) transcript.DetailUpdate {
	return transcript.DetailUpdate{Phase: b.text("phase", u.Phase), Status: b.text("status", u.Status), Content: b.text("update", u.Content)}
}

func (b *detailBuilder) turn(t episode.Trace) {
	turn := transcript.DetailTurn{Turn: int(t.Turn.Turn), Updates: b.early}
	b.early = nil
	if len(b.d.Turns) == 0 {
		b.d.System = b.text("system prompt", t.Call.System)
	} else if t.Call.System != b.system {
		turn.System = b.text("system prompt", t.Call.System)
	}
	b.system = t.Call.System
	for _, m := range t.Call.Messages {
		text := m.Text
		if n := len(m.Images); n > 0 {
			text += fmt.Sprintf("\n[images: %d]\n", n)
		}
		if text, same := b.fresh(b.redact("prompt", text)); text != "" {
			turn.Prompt = append(turn.Prompt, transcript.Message{Role: m.Role, Text: b.cut(text), Same: same})
		}
	}
	b.seen()
	if t.Err != nil {
		turn.Failed = b.text("error", t.Err.Error())
	} else {
		turn.Output = b.text("output", t.Answer.Text)
		for _, c := range t.Answer.Calls {
			turn.Calls = append(turn.Calls, transcript.DetailCall{Tool: b.text("tool", c.Name), Args: b.text("arguments", c.Args)})
		}
	}
	b.d.Turns = append(b.d.Turns, turn)
}

// fresh returns the lines of a message that no earlier turn had, and the number of others.
func (b *detailBuilder) fresh(text string) (string, int) {
	var lines []string
	same := 0
	for line := range strings.Lines(text) {
		if b.shown[line] {
			same++
			continue
		}
		lines = append(lines, line)
	}
	b.now = append(b.now, lines...)
	return strings.Join(lines, ""), same
}

// seen marks the lines of the turn's prompt as shown.
func (b *detailBuilder) seen() {
	for _, line := range b.now {
		b.shown[line] = true
	}
	b.now = b.now[:0]
}

func (b *detailBuilder) step(t episode.Trace) transcript.DetailStep {
	if t.Tool == nil {
		s := transcript.DetailStep{Question: b.text("question", t.Question), Result: b.text("reply", t.Reply), Outcome: "ok"}
		if t.Silent {
			s.Outcome = "silence"
		}
		return s
	}
	s := transcript.DetailStep{
		Tool: b.text("tool", t.Tool.Call.Name), Args: b.text("arguments", string(t.Tool.Call.Args)),
		Outcome: b.text("outcome", strings.TrimSpace(string(t.Result.Outcome)+" "+t.Result.Code)),
	}
	if t.Result.Outcome == tool.OK {
		s.Result = b.text("observation", string(t.Result.Value))
	} else {
		s.Result = b.text("observation", t.Result.Message)
	}
	return s
}

func (b *detailBuilder) text(field, s string) string { return b.cut(b.redact(field, s)) }

// cut shortens a text to the bounds and says how many bytes are missing.
func (b *detailBuilder) cut(s string) string {
	limit := max(min(maxDetailText, b.left), 0)
	if len(s) > limit {
		shown := clip.FirstBytes(s, limit)
		s = fmt.Sprintf("%s… (%d bytes more)", shown, len(s)-len(shown))
	}
	b.left -= len(s)
	return s
}
