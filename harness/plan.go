package harness

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/recorder"
)

// plan is the episodes of a run in ledger order: by task, candidate and trial. It creates
// each episode on demand, so a plan of 100,000 needs the memory of its tasks plus twelve
// bytes per episode.
type plan struct {
	options    Options
	tasks      []plannedTask       // in the order of the suite
	candidates []resolvedCandidate // as configured
	cells      []drive.Cell        // of this shard, in ledger order
	digest     string              // of the cells of all shards
	sessions   map[int32][]int32   // by the place of each episode of a session
}

type plannedTask struct {
	goldens.Task
	tools   *tool.Set
	planned bool // in any shard
}

func (p *plan) len() int { return len(p.cells) }

// at returns the i-th episode.
func (p *plan) at(i int) drive.Planned {
	c := p.cells[i]
	t := &p.tasks[c.Task]
	return p.candidates[c.Candidate].episode(p.options, t.Task, t.tools, int(c.Trial))
}

// seed is the seed of an episode.
func (p *plan) seed(c drive.Cell) drive.Seed {
	return drive.NewSeed(p.options.Seed, p.tasks[c.Task].ID, p.candidates[c.Candidate].Name, int(c.Trial))
}

// goldens are the candidates as configured.
func (p *plan) goldens() (list []goldens.Candidate) {
	for _, c := range p.candidates {
		list = append(list, c.Candidate)
	}
	return list
}

// all are the episodes in ledger order.
func (p *plan) all() iter.Seq2[int, drive.Planned] {
	return func(yield func(int, drive.Planned) bool) {
		for i := range p.cells {
			if !yield(i, p.at(i)) {
				return
			}
		}
	}
}

// keep removes the episodes for which keep is false.
func (p *plan) keep(keep func(drive.Planned) bool) {
	kept := p.cells[:0]
	for i, e := range p.all() {
		if keep(e) {
			kept = append(kept, p.cells[i])
		}
	}
	p.cells = kept
}

// sort puts the episodes in ledger order. It compares names once per pair, not once per
// episode.
func (p *plan) sort() {
	tasks := ranks(p.tasks, func(t plannedTask) string { return t.ID })
	candidates := ranks(p.candidates, func(c resolvedCandidate) string { return c.Name })
	slices.SortFunc(p.cells, func(a, b drive.Cell) int {
		return cmp.Or(
			cmp.Compare(tasks[a.Task], tasks[b.Task]),
			cmp.Compare(candidates[a.Candidate], candidates[b.Candidate]),
			cmp.Compare(a.Trial, b.Trial))
	})
}

// ranks returns the places of the items when sorted by name.
func ranks[E any](items []E, name func(E) string) []int {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(name(items[a]), name(items[b])) })
	rank := make([]int, len(items))
	for at, i := range order {
		rank[i] = at
	}
	return rank
}

// seal computes the digest of the whole plan, then removes the episodes of other shards.
func (p *plan) seal() {
	p.sort()
	h := sha256.New()
	mine := p.cells[:0]
	for _, c := range p.cells {
		t := &p.tasks[c.Task]
		t.planned = true
		p.candidates[c.Candidate].planned++
		name := drive.EpisodeName(t.ID, p.candidates[c.Candidate].Name, int(c.Trial))
		_, _ = io.WriteString(h, name+"\n") // a hash never fails
		if p.options.Select.Shard.has(shardName(t.Task, p.candidates[c.Candidate].Name, int(c.Trial))) {
			mine = append(mine, c)
		}
	}
	p.cells = mine
	p.findSessions()
	p.digest = hex.EncodeToString(h.Sum(nil))
}

// makePlan resolves the suite, the candidates and the selection into episodes. Its error
// joins every problem.
func makePlan(o Options) (*plan, error) {
	p, err := selected(o)
	if err != nil {
		return nil, err
	}
	var errs []error
	seen := map[string]bool{}
	wanted := o.Select.withPredecessors(p.tasks)
	for i, t := range p.tasks {
		before := len(p.cells)
		for j, c := range p.candidates {
			if !takes(c.Candidate, t.Task) {
				continue
			}
			for trial := 1; trial <= o.Trials; trial++ {
				if wanted(i, c.Name, trial) {
					p.cells = append(p.cells, drive.Cell{Task: int32(i), Candidate: int32(j), Trial: int32(trial)})
				}
			}
			if err := checkEpisode(o, c.episode(o, t.Task, t.tools, 1)); err != nil && !seen[err.Error()] {
				seen[err.Error()] = true
				errs = append(errs, err)
			}
		}
		if o.Mode != recorder.Replay && len(p.cells) > before {
			if _, _, err := drive.ToolHeaders(o.Suite, t.Task, o.Tools, o.LookupEnv); err != nil {
				return nil, &ConfigError{fmt.Errorf("task %s: %w", t.ID, err)}
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &ConfigError{err}
	}
	if len(p.cells) == 0 && o.Select.Episode == nil {
		return nil, &ConfigError{errors.New("the selection leaves no episode: " + whyNone(p))}
	}
	p.sort()
	return p, nil
}

// whyNone says why no candidate runs any of the tasks.
func whyNone(p *plan) string {
	for _, t := range p.tasks {
		for _, c := range p.candidates {
			if !t.Scripted && c.Provider != episode.ScriptedCandidate && incapableOf(c.Candidate, t.Task) {
				return fmt.Sprintf("agent %s of candidate %s cannot do task %s, which has messages, functions or a simulated user; select another candidate", cmp.Or(c.Agent, strategy.Contract), c.Name, t.ID)
			}
		}
	}
	return "scripted tasks run only with --candidate scripted, other tasks only with other candidates"
}

// takes reports whether a candidate runs a task: scripted tasks have their own.
func takes(c goldens.Candidate, t goldens.Task) bool {
	return t.Scripted == (c.Provider == episode.ScriptedCandidate) && (t.Scripted || !incapableOf(c, t))
}

// incapableOf reports whether a task has messages for which a candidate's strategy has no
// thread, functions that it does not take, or a simulated user that it cannot ask: such a
// pair is left out of runs.
func incapableOf(c goldens.Candidate, t goldens.Task) bool {
	cannot := strategy.Of(c.Agent).Cannot
	return len(t.Messages) > 0 && slices.Contains(cannot, strategy.CanThread) ||
		t.User != nil && slices.Contains(cannot, strategy.CanAsk) ||
		t.Functions != nil && slices.Contains(cannot, strategy.CanCallOnly)
}

// selected resolves the tasks and candidates of the selection.
func selected(o Options) (*plan, error) {
	candidates := slices.Concat(o.Candidates, []goldens.Candidate{{Name: episode.ScriptedCandidate, Provider: episode.ScriptedCandidate, Model: episode.ScriptedCandidate, Rescue: drive.ScriptedRescue}})
	chosen, err1 := o.Select.candidates(candidates)
	tasks, err2 := o.Select.tasks(o.Suite.Tasks)
	errs := []error{err1, err2, o.Select.Shard.check()}
	p := &plan{options: o}
	for _, c := range chosen {
		r, err := o.resolveCandidate(c)
		errs = append(errs, err)
		p.candidates = append(p.candidates, r)
	}
	sets := toolSets{}
	for _, t := range tasks {
		set, err := sets.of(o.Suite, t)
		if err != nil {
			errs = append(errs, fmt.Errorf("task %s: %w", t.ID, err))
		}
		p.tasks = append(p.tasks, plannedTask{Task: t, tools: set})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &ConfigError{err}
	}
	return p, nil
}

// cassette returns the cassette path of the i-th episode, and whether it is scripted.
func (p *plan) cassette(i int) (path string, scripted bool) {
	c := p.cells[i]
	candidate := &p.candidates[c.Candidate]
	return candidate.cassette(p.options, p.tasks[c.Task].Task, int(c.Trial)), candidate.Provider == episode.ScriptedCandidate
}

// toolSets are the compiled tool sets of tasks by their names, because most tasks of a
// suite have the same tools.
type toolSets map[string]*tool.Set

func (sets toolSets) of(s *goldens.Suite, t goldens.Task) (*tool.Set, error) {
	names := strings.Join(t.Tools, "\x00")
	if set, ok := sets[names]; ok && t.Functions == nil {
		return set, nil
	}
	specs, err := s.ToolsOf(t)
	if err != nil {
		return nil, err
	}
	set, err := tool.NewSet(specs)
	if err == nil && t.Functions == nil {
		sets[names] = set
	}
	return set, err
}

// name returns the name of the i-th episode.
func (p *plan) name(i int) string {
	c := p.cells[i]
	return drive.EpisodeName(p.tasks[c.Task].ID, p.candidates[c.Candidate].Name, int(c.Trial))
}

// find returns the place of an episode in the plan.
func (p *plan) find(task, candidate string, trial int) (int, bool) {
	return sort.Find(len(p.cells), func(i int) int {
		c := p.cells[i]
		return cmp.Or(
			strings.Compare(task, p.tasks[c.Task].ID),
			strings.Compare(candidate, p.candidates[c.Candidate].Name),
			cmp.Compare(trial, int(c.Trial)))
	})
}
