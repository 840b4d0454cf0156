package html

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/transcript"
	"github.com/cupel-eval/cupel/reports/view/compared"
	"github.com/cupel-eval/cupel/reports/words"
)

// SidesOf returns one episode of a comparison, of the baseline or of the new run:
// its rows, and what was said in it, whose Missing says why if nothing is
// available. ok is false where there are no rows. It is called from one goroutine, for
// the baseline first, and for each run in the ledger's order.
type SidesOf func(isNew bool, task, candidate string, n int) (rows ledger.EpisodeRows, said transcript.Detail, ok bool)

// sidesView is a trial of a task on both sides, turn by turn.
type sidesView struct {
	Anchor, Task, Title, Class, Sign, Colour, Pair, Evidence, Words string
	Open                                                            bool
	Baseline, New                                                   sideView
	Rows                                                            []sidesRow
	More                                                            string
	// Prompts are the numbers of the system prompts the two were sent, where these
	// differ.
	Prompts []int
}

// sideView is the end of an episode.
type sideView struct {
	Name, Sign, Class, Facts, Answer, Missing string
	Checks                                    []string
	turns                                     []transcript.Turn
	more                                      string
	system                                    int // the first one sent; 0 where unknown
}

// sidesRow are two turns; First says in what they differ, on the first row that does.
type sidesRow struct {
	N             int
	Baseline, New *transcript.Turn
	First         string
}

// sidesBuilder shows the episodes most worth it.
type sidesBuilder struct {
	wanted  []*wantedSides
	systems *transcript.Systems
	budget  int // of text, in bytes
	anchors map[*compare.Task]string
	blocks  []template.HTML
	left    string // what is not shown, and why
}

type wantedSides struct {
	taskOf
	episode compare.EpisodePair
	halves  [2]sideView
	lost    bool // one side could not be read
}

// sidesOf shows one episode pair of as many changed tasks as there is room for.
func sidesOf(c compare.Comparison, of SidesOf) (*sidesBuilder, error) {
	b := &sidesBuilder{systems: &transcript.Systems{By: map[string]int{}, Size: transcript.MaxSaid - maxPromptsOfSides}, budget: maxSaidOfSides, anchors: map[*compare.Task]string{}}
	if of == nil {
		b.left = "The episodes are not available here: use cupel show."
		return b, nil
	}
	more := b.choose(c)
	for side := range 2 {
		b.read(side, of)
	}
	var missing transcript.MissingSaid
	size := 0
	for i, w := range b.wanted {
		if w.lost {
			more++
			continue
		}
		block, err := b.render(i, w, maxSidesBytes-size)
		if err != nil {
			return nil, err
		}
		if block == "" {
			more++
			continue
		}
		for _, h := range w.halves {
			missing.Add(h.Missing)
		}
		size += len(block)
		b.blocks = append(b.blocks, block)
	}
	if more > 0 {
		b.left = fmt.Sprintf("%s more that changed are not shown here: cupel show has their episodes.", words.Plural(more, "task"))
	}
	b.left = words.Join(" ", append([]string{b.left}, missing.Words()...)...)
	return b, nil
}

// choose picks the tasks, and says how many were left out.
func (b *sidesBuilder) choose(c compare.Comparison) (more int) {
	for _, t := range byClass(c) {
		if !slices.Contains(compared.ChangedClasses(), t.Class) {
			continue
		}
		i := slices.IndexFunc(t.Episodes, func(e compare.EpisodePair) bool { return e.BaselineID != "" && e.NewID != "" })
		switch {
		case i < 0:
		case len(b.wanted) == maxSides:
			more++
		default:
			b.wanted = append(b.wanted, &wantedSides{taskOf: t, episode: t.Episodes[i]})
		}
	}
	return more
}

// read reads the episodes of one run, in its order. What may be said is shared out
// evenly: what one episode does not need the next ones may have.
func (b *sidesBuilder) read(side int, of SidesOf) {
	name := func(w *wantedSides) string { return [2]string{w.pair.Baseline.Name, w.pair.New.Name}[side] }
	order := slices.Clone(b.wanted)
	slices.SortStableFunc(order, func(a, b *wantedSides) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(name(a), name(b)), cmp.Compare(a.episode.Trial, b.episode.Trial))
	})
	for i, w := range order {
		rows, said, ok := of(side == 1, w.ID, name(w), w.episode.Trial)
		if id := [2]string{w.episode.BaselineID, w.episode.NewID}[side]; !ok || rows.Episode.EpisodeID != id {
			w.lost = true
			continue
		}
		left := len(order)*(2-side) - i
		w.halves[side] = b.half([2]string{w.pair.Labels.Baseline, w.pair.Labels.New}[side], rows, said, b.budget/left)
	}
}

// half is one side of an episode pair, with its label; room is what may be said.
func (b *sidesBuilder) half(label string, rows ledger.EpisodeRows, said transcript.Detail, room int) sideView {
	v := transcript.Of(rows, rows.Episode.ErrorText)
	if label != rows.Episode.Candidate { // of two runs
		v.Candidate = label + " · " + v.Candidate
	}
	if said.Missing == "" {
		s := &transcript.Saying{Left: min(transcript.MaxSaid, room), Systems: b.systems}
		whole := s.Left
		s.Detail(&v, said)
		b.budget -= whole - s.Left
	}
	h := sideView{Name: v.Candidate, Sign: v.Sign, Class: v.Class, Facts: v.Outcome + " · " + v.Facts, Answer: v.Answer, Checks: v.Checks, Missing: words.Clip(said.Missing, 300), turns: v.Turns, more: v.More}
	for _, t := range v.Turns {
		if t.Said != nil && t.Said.System > 0 && h.system == 0 {
			h.system = t.Said.System
		}
	}
	return h
}

// render shows an episode pair within so many bytes, without what was said if that
// is too much, or not at all: then the block is empty.
func (b *sidesBuilder) render(i int, w *wantedSides, room int) (template.HTML, error) {
	v := w.view(fmt.Sprintf("side-%d", i+1))
	v.Open = len(b.blocks) < 3
	var text bytes.Buffer
	for range 2 {
		text.Reset()
		if err := parsed().ExecuteTemplate(&text, "sides", v); err != nil {
			return "", fmt.Errorf("reports: comparison of task %s: %w", v.Task, err)
		}
		if text.Len() <= room {
			b.anchors[w.Task] = v.Anchor
			return template.HTML(text.String()), nil
		}
		for _, r := range v.Rows {
			for _, t := range []*transcript.Turn{r.Baseline, r.New} {
				if t != nil {
					t.Said = nil
				}
			}
		}
	}
	return "", nil
}

// view lays the turns of both sides beside each other.
func (w *wantedSides) view(anchor string) sidesView {
	e := w.episode
	v := sidesView{
		Anchor: anchor, Task: words.Brief(w.ID, 60), Title: words.Brief(w.Title, 120), Class: string(w.Class), Pair: words.Brief(compared.PairName(*w.pair), 120),
		Evidence: words.Clip(w.Evidence, 300), Words: words.Clip(compared.EpisodeWords(e), 400), Baseline: w.halves[0], New: w.halves[1],
	}
	v.Sign, v.Colour = classSign(w.Class)
	left, right := w.halves[0].turns, w.halves[1].turns
	for i := range max(len(left), len(right)) {
		r := sidesRow{N: i + 1}
		if i < len(left) {
			r.Baseline = &left[i]
		}
		if i < len(right) {
			r.New = &right[i]
		}
		if i+1 == e.Turn {
			r.First = compared.FirstDifference(e)
		}
		v.Rows = append(v.Rows, r)
	}
	v.More = words.Join(" ", w.halves[0].more, w.halves[1].more)
	if a, z := w.halves[0].system, w.halves[1].system; a > 0 && z > 0 && a != z {
		v.Prompts = []int{a, z}
	}
	return v
}
