package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/recorder"
)

// CassetteState says what a replay can expect of a cassette.
type CassetteState string

// The states of a cassette.
const (
	// CassetteFresh was recorded with what a run would use today.
	CassetteFresh CassetteState = "fresh"
	// CassetteStale was recorded with something else.
	CassetteStale CassetteState = "stale"
	// CassetteMissing is planned and not there.
	CassetteMissing CassetteState = "missing"
	// CassetteOrphan is there and no run of the suite would ask for it;
	// CassetteUnused is asked for by runs of more trials, or of a fork.
	CassetteOrphan CassetteState = "orphan"
	CassetteUnused CassetteState = "unused"
	// CassetteCorrupt cannot be trusted: cut, edited, or no cassette at all.
	CassetteCorrupt CassetteState = "corrupt"
)

// CassetteStatus is one cassette, planned or found.
type CassetteStatus struct {
	// Path is slash-separated, below the cassettes folder.
	Path  string        `json:"path"`
	State CassetteState `json:"state"`
	// Why says what changed, what is wrong, or why nothing asks for it. It may
	// quote the file, which is untrusted.
	Why []string `json:"why,omitempty"`
}

// Cassettes compares what the cassettes say of themselves with what a replay of
// these options would use, and runs nothing: planned ones first, in plan order,
// then the others by name. With a selection those are not looked for. That a
// replay would leave recordings unused only a replay can tell.
func Cassettes(o Options) ([]CassetteStatus, error) {
	whole := len(o.Select.Tasks)+len(o.Select.Candidates)+len(o.Select.Tags) == 0
	if whole {
		o.Select.Candidates = []string{"*"} // the scripted candidate too
	}
	o.Mode = recorder.Replay
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Cassettes == nil {
		files, closeAll, err := OpenCassettes(o.Suite)
		if err != nil {
			return nil, err
		}
		defer closeAll()
		o.Cassettes = files
	}
	plan, err := makePlan(o)
	if err != nil {
		return nil, err
	}
	var all []CassetteStatus
	planned := map[string]bool{}
	for _, p := range plan.all() {
		if p.cassette == "" {
			continue
		}
		planned[p.cassette] = true
		s, err := o.status(plan, p)
		if err != nil {
			return nil, err
		}
		if s.State != CassetteMissing || p.candidate.Provider != ScriptedCandidate { // a script may call no HTTP tool
			all = append(all, s)
		}
	}
	if !whole {
		return all, nil
	}
	files, err := recorder.List(o.Cassettes)
	for _, name := range files {
		if !planned[name] {
			state, why := o.unplanned(name)
			all = append(all, CassetteStatus{name, state, []string{why}})
		}
	}
	return all, err
}

// unplanned says why no run of these options asks for a file, and whether others
// would.
func (o Options) unplanned(name string) (CassetteState, string) {
	parts := strings.Split(strings.TrimSuffix(name, ".yaml"), "/")
	if len(parts) != 3 {
		return CassetteOrphan, "not named CANDIDATE/TASK/TRIAL.yaml"
	}
	candidate, task := parts[0], parts[1]
	if fork := o.forkedFrom(name, candidate); fork != "" {
		return CassetteUnused, "a fork of " + fork
	}
	i := slices.IndexFunc(o.Suite.Tasks, func(t goldens.Task) bool { return t.ID == task })
	named := slices.ContainsFunc(o.Candidates, func(c goldens.Candidate) bool { return c.Name == candidate })
	switch trial, err := strconv.Atoi(parts[2]); {
	case !named && candidate != ScriptedCandidate:
		return CassetteOrphan, fmt.Sprintf("no candidate %.60q", candidate)
	case i < 0:
		return CassetteOrphan, fmt.Sprintf("no task %.60q", task)
	case o.Suite.Tasks[i].Scripted == named:
		return CassetteOrphan, "scripted tasks run with the candidate scripted, and only they"
	case err != nil || trial < 1 || strconv.Itoa(trial) != parts[2]:
		return CassetteOrphan, "not named by the number of a trial"
	case trial > o.Trials:
		return CassetteUnused, fmt.Sprintf("trial %d of %d", trial, o.Trials)
	}
	return CassetteOrphan, "its task calls no HTTP tool"
}

// forkedFrom is the episode that a fork's cassette goes on from, where the suite
// still has its task and candidates; empty for any other.
func (o Options) forkedFrom(name, candidate string) string {
	c, err := recorder.Inspect(recorder.Options{FS: o.Cassettes, Path: name})
	if err != nil || c.Header.Fork == "" {
		return ""
	}
	f, err := ParseFork(c.Header.Fork)
	base := f.Base(candidate)
	known := func(name string) bool {
		return slices.ContainsFunc(o.Candidates, func(c goldens.Candidate) bool { return c.Name == name })
	}
	if err != nil || f.Name(base) != candidate || !known(base) || !known(f.Candidate) ||
		!slices.ContainsFunc(o.Suite.Tasks, func(t goldens.Task) bool { return t.ID == f.Task }) {
		return ""
	}
	return f.String()
}

// status classifies the cassette of one episode. Where an earlier one of its session
// is to be recorded again, so is it: what it remembers may change.
func (o Options) status(plan *plan, p planned) (CassetteStatus, error) {
	var digests []string
	why := ""
	if p.remembers() {
		for _, q := range plan.before(p) {
			s, digest, err := o.statusAfter(q, digests)
			if err != nil {
				return s, err
			}
			if why == "" && s.State != CassetteFresh && p.candidate.Provider != ScriptedCandidate {
				why = fmt.Sprintf("session changed (its earlier task %s is %s)", q.task.ID, s.State)
			}
			digests = append(digests, digest)
		}
	}
	s, _, err := o.statusAfter(p, digests)
	if why != "" && (s.State == CassetteFresh || s.State == CassetteStale) {
		s.State, s.Why = CassetteStale, append(slices.DeleteFunc(s.Why, func(w string) bool { return w == sessionAnew }), why)
	}
	return s, err
}

// statusAfter is the status after episodes with cassettes of these digests, as far as
// the cassette itself tells; with its own digest.
func (o Options) statusAfter(p planned, digests []string) (s CassetteStatus, digest string, err error) {
	p.remember(recollection{digests: digests})
	s = CassetteStatus{Path: p.cassette, State: CassetteFresh}
	if p.cassette == "" {
		return s, "", nil
	}
	c, err := recorder.Inspect(recorder.Options{FS: o.Cassettes, Path: p.cassette})
	var missing *recorder.MissingError
	var corrupt *recorder.CorruptError
	switch {
	case errors.As(err, &missing):
		s.State = CassetteMissing
	case errors.As(err, &corrupt):
		s.State, s.Why = CassetteCorrupt, []string{corrupt.Reason}
	case err != nil:
		return s, "", err
	default:
		digest = c.Digest
		if s.Why = changes(c.Header, o.header(p)); s.Why != nil {
			s.State = CassetteStale
		}
	}
	return s, digest, nil
}

// ErrAllFresh says that a run of Options.Stale found nothing to record.
var ErrAllFresh = errors.New("every selected cassette is fresh: nothing to record")

// stalePlan plans the selected episodes whose cassettes are not fresh. No key is
// asked for on behalf of the others.
func (o Options) stalePlan() (*plan, error) {
	look := o
	look.Mode = recorder.Replay
	plan, err := makePlan(look)
	if err != nil {
		return nil, err
	}
	stale := map[string]bool{}
	o.Select.Candidates, o.Select.Tasks = nil, nil
	for _, p := range plan.all() {
		if p.cassette == "" {
			continue
		}
		s, err := o.status(plan, p)
		if err != nil {
			return nil, err
		}
		if s.State != CassetteFresh {
			stale[p.cassette] = true
			o.Select.Candidates = append(o.Select.Candidates, p.candidate.Name)
			o.Select.Tasks = append(o.Select.Tasks, p.task.ID)
		}
	}
	if len(stale) == 0 {
		return nil, ErrAllFresh
	}
	if plan, err = makePlan(o); err == nil {
		plan.keep(func(p planned) bool { return stale[p.cassette] })
	}
	return plan, err
}

// header is what a cassette of the episode says of itself, but for its day.
func (o Options) header(p planned) recorder.Header {
	p.params.Memory = nil
	if p.remembers() {
		p.params.Memory = []agent.Exchange{{}} // that there is one, not what
	}
	h := recorder.Header{
		Suite: p.suite.Name, Task: p.task.ID, Candidate: p.candidate.Name, Trial: p.trial,
		Provider: p.candidate.Provider, Model: p.candidate.Model, Simulated: simulated(p.candidate.Provider),
		Adapter: o.Adapters[p.candidate.Provider], Digests: p.promptDigests(),
	}
	h.Digests["policy"] = digestOf(p.params.MaxTokens, p.params.Temperature, p.params.Budgets)
	h.Digests["task"] = o.taskDigest(p.task)
	c := p.candidate
	parts := []any{c.Agent, c.Rescue, c.RescueOnContradiction, c.BaseURL, c.Region, c.Stream, c.Headers, c.Query, c.Body}
	if part := agentPart(c); part != nil {
		parts = append(parts, part)
	}
	h.Digests["candidate"] = digestOf(parts...)
	if p.before != "" {
		h.Digests["session"] = p.before
	}
	return h
}

// taskDigest covers what a task brings into requests, besides its tools as shown
// and its budgets: not what is expected, and no credential.
func (o Options) taskDigest(t goldens.Task) string {
	w := t.World
	w.Env, w.Now, w.Zone = nil, time.Time{}, nil
	var tools []any
	for _, name := range t.Tools {
		tools = append(tools, o.Suite.Approval(name))
		if spec, ok := o.Suite.HTTP[name]; ok {
			tools = append(tools, spec)
		}
	}
	parts := []any{t.Request, t.Constraints, t.World.Now.UTC().Format(time.RFC3339Nano), t.World.Zone.String(), w, t.Replies, t.Approvals, t.Script, tools}
	if len(t.Inputs)+len(t.Images)+len(t.AnswerSchema) > 0 {
		parts = append(parts, t.Inputs, t.Each, t.Images, t.AnswerSchema)
	}
	return digestOf(parts...)
}

func digestOf(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		panic("harness: " + err.Error()) // unreachable: loaded suites and plans encode
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// sessionAnew is said of a cassette whose episode remembers what is no longer there.
const sessionAnew = "session changed (an earlier task of it was recorded anew, or is another)"

// changes says how what was recorded differs from what a run would use today.
// Nothing is said of what a cassette does not say: other tools' have no digests,
// those without one of the task have one of the whole policy, which says too much.
func changes(was, is recorder.Header) []string {
	var why []string
	for _, f := range []struct{ name, was, is string }{
		{"provider", was.Provider, is.Provider}, {"model", was.Model, is.Model}, {"wire", was.Adapter, is.Adapter},
	} {
		if f.was != f.is && f.was != "" && f.is != "" {
			why = append(why, fmt.Sprintf("%s changed: %.60q → %.60q", f.name, f.was, f.is))
		}
	}
	for _, d := range []struct{ name, hint string }{
		{"prompt", ""}, {"tools", ""}, {"contract", ""}, {"policy", " (dials or budgets)"},
		{"task", " (request, world, or its script)"}, {"candidate", " (address, rescue, or what is added to requests)"},
		{"session", strings.TrimPrefix(sessionAnew, "session changed")},
	} {
		then := was.Digests[d.name]
		if then != "" && then != is.Digests[d.name] && (d.name != "policy" || was.Digests["task"] != "") {
			why = append(why, d.name+" changed"+d.hint)
		}
	}
	return why
}
