package label

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens/labels"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/labelling"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/internal/clip"
)

// sampleOptions are the flags of label sample.
type sampleOptions struct {
	size       int
	seed       int64
	check, out string
}

// Bounds of a cell: spreadsheets take 32,767 characters.
const (
	maxCell   = 30_000 // bytes
	maxResult = 2_000  // bytes of one result or argument
)

// texts are those of an episode that people need to judge it.
type texts struct{ answer, calls, conversation string }

// sample draws and writes a sample.
func sample(ctx context.Context, h Host, dir string, o sampleOptions) error {
	m, episodes, err := ledger.Open(dir)
	if err != nil {
		return err
	}
	drawn, err := labelling.Draw(episodes, o.size, o.seed, outcomes(o.check))
	if err != nil {
		return err
	}
	if len(drawn.Episodes) == 0 {
		what := "no episode has a result that people could judge"
		if o.check != "" {
			what = fmt.Sprintf("no episode has the check %q; cupel show RUN EPISODE lists the checks of an episode", o.check)
		}
		return exit.Usage(fmt.Errorf("run %s: %s", m.RunID, what))
	}
	found, note, err := gather(ctx, h, dir, m, drawn.Episodes)
	if err != nil {
		return err
	}
	requests := map[string]string{}
	for _, t := range m.Tasks {
		requests[t.ID] = t.Request
	}
	err = create(o.out, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		row(out, slices.Concat(labels.Columns, []string{"request", "answer", "calls", "conversation"}))
		for _, k := range drawn.Episodes {
			t := found[k.EpisodeID]
			cells := []string{k.TaskID, k.Candidate, strconv.Itoa(int(k.Trial)), o.check, "", "", ""}
			for _, text := range []string{requests[k.TaskID], t.answer, t.calls, t.conversation} {
				cells = append(cells, cut(h.Redact("label", text), maxCell))
			}
			row(out, cells)
		}
		return out.Flush()
	})
	if err != nil {
		return err
	}
	return say(h.Stdout, m, drawn, o, note)
}

// row writes cells, each in quotes and none as a formula.
func row(w *bufio.Writer, cells []string) {
	for i, c := range cells {
		if i > 0 {
			_ = w.WriteByte(',') // Flush has the error
		}
		_, _ = w.WriteString(`"` + strings.ReplaceAll(strings.ToValidUTF8(labels.Safe(c), "\uFFFD"), `"`, `""`) + `"`)
	}
	_, _ = w.WriteString("\r\n")
}

// cut bounds a text, and says so.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return clip.Bytes(text, most) + " [cut; cupel show prints all of it]"
}

// say prints what was drawn.
func say(w io.Writer, m manifest.Manifest, s labelling.Sample, o sampleOptions, note string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "drew %s of run %s by candidate and outcome, seed %d\n", console.Count(len(s.Episodes), "episode"), m.RunID, o.seed)
	for _, stratum := range s.Strata {
		fmt.Fprintf(&b, "  %s, %s: %d of %d\n", console.Line(stratum.Candidate), console.Line(stratum.Outcome), stratum.Drawn, stratum.Episodes)
	}
	if s.NoResult > 0 {
		fmt.Fprintf(&b, "left out: %s without a result\n", console.Count(s.NoResult, "episode"))
	}
	if note != "" {
		fmt.Fprintf(&b, "note: %s\n", console.Line(note))
	}
	fmt.Fprintf(&b, "wrote %s: fill in verdict (pass or fail) and labeller, then: cupel label import %s %s\n", o.out, m.RunID, o.out)
	_, err := io.WriteString(w, b.String())
	return err
}

// gather collects the texts of episodes. Where they cannot be had, the ledger has the answer and the
// names of calls, and note says why.
func gather(ctx context.Context, h Host, dir string, m manifest.Manifest, keys []ledger.Key) (found map[string]texts, note string, err error) {
	traces, done, err := Tracer(ctx, h.Options, dir, m)
	if err != nil {
		note, traces, done = "calls have no arguments and results, because "+err.Error(), nil, func() {}
	}
	defer done()
	wanted := map[string]bool{}
	for _, k := range keys {
		wanted[k.EpisodeID] = true
	}
	found = map[string]texts{}
	for rows, err := range ledger.Scan(dir) {
		if err != nil {
			return nil, "", err
		}
		if !wanted[rows.Episode.EpisodeID] {
			continue
		}
		var list []episode.Trace
		if traces != nil {
			if list, err = traces(rows); ctx.Err() != nil {
				return nil, "", ctx.Err()
			}
			if err != nil {
				note = "calls of some episodes have no arguments and results, because " + err.Error()
			}
		}
		found[strings.Clone(rows.Episode.EpisodeID)] = textsOf(rows, list)
	}
	return found, note, nil
}

// Tracer returns what tells what happened in an episode: the texts of an imported run, or another
// execution from the cassettes, with the options that load returns. The caller calls done.
func Tracer(ctx context.Context, load func(context.Context, manifest.Manifest) (harness.Options, func(), error), dir string, m manifest.Manifest) (of func(ledger.EpisodeRows) ([]episode.Trace, error), done func(), err error) {
	if m.Imported.Format != "" {
		t, err := imports.OpenTexts(dir, m)
		if err != nil {
			return nil, nil, err
		}
		return t.Traces, func() { _ = t.Close() }, nil
	}
	o, cleanup, err := load(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	r, err := rerun.NewReplayer(o, m)
	if err != nil {
		cleanup()
		return nil, nil, err
	}
	again := func(rows ledger.EpisodeRows) ([]episode.Trace, error) { return r.Again(ctx, rows) }
	return again, func() { r.Close(); cleanup() }, nil
}

// textsOf are the texts of an episode, from its traces as far as there are any.
func textsOf(rows ledger.EpisodeRows, traces []episode.Trace) texts {
	t := texts{answer: strings.Clone(rows.Episode.Answer)}
	var calls, said strings.Builder
	for _, trace := range traces {
		if trace.Question != "" || trace.Reply != "" {
			fmt.Fprintf(&said, "agent: %s\nuser: %s\n", cut(trace.Question, maxResult), cut(trace.Reply, maxResult))
		}
		if o := trace.Outcome; o != nil {
			calls.Reset()
			for i, c := range o.Calls {
				fmt.Fprintf(&calls, "%d. %s %s\n→ %s", i+1, c.Call.Name, cut(string(c.Call.Args), maxResult), c.Outcome)
				if len(c.Result) > 0 {
					calls.WriteString(": " + cut(string(c.Result), maxResult))
				}
				calls.WriteByte('\n')
			}
			t.answer = o.Answer
		}
	}
	if traces == nil {
		for i, c := range rows.ToolCalls {
			fmt.Fprintf(&calls, "%d. %s\n→ %s\n", i+1, c.ToolName, c.Outcome)
		}
	}
	t.calls, t.conversation = strings.TrimSpace(calls.String()), strings.TrimSpace(said.String())
	return t
}
