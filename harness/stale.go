package harness

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// Cassettes compares the headers of cassettes with what a replay of these options would
// use, without running anything: planned ones first, in plan order, then, without a
// selection, the others by name. Only a replay can find unused recordings in a cassette.
func Cassettes(o Options) ([]cassettes.Status, error) {
	whole := len(o.Select.Tasks)+len(o.Select.Candidates)+len(o.Select.Tags) == 0
	if whole {
		o.Select.Candidates = []string{"*"} // including the scripted candidate
	}
	o.Mode = recorder.Replay
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Cassettes == nil {
		files, closeAll, err := cassettes.Open(o.Suite)
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
	var all []cassettes.Status
	planned := map[string]bool{}
	for _, p := range plan.all() {
		if p.Cassette == "" {
			continue
		}
		planned[p.Cassette] = true
		s, err := cassetteStatus(o, plan, p)
		if err != nil {
			return nil, err
		}
		if s.State != cassettes.Missing || p.Candidate.Provider != episode.ScriptedCandidate { // a script may call no HTTP tool
			all = append(all, s)
		}
	}
	if !whole {
		return all, nil
	}
	files, err := cassette.List(o.Cassettes)
	for _, name := range files {
		if !planned[name] {
			state, why := unplanned(o, name)
			all = append(all, cassettes.Status{Path: name, State: state, Why: []string{why}})
		}
	}
	return all, err
}

// unplanned returns why these options do not need a file, and whether others would.
func unplanned(o Options, name string) (cassettes.State, string) {
	parts := strings.Split(strings.TrimSuffix(name, ".yaml"), "/")
	if len(parts) != 3 {
		return cassettes.Orphan, "not named CANDIDATE/TASK/TRIAL.yaml"
	}
	candidate, task := parts[0], parts[1]
	if fork := forkedFrom(o, name, candidate); fork != "" {
		return cassettes.Unused, "a fork of " + fork
	}
	i := slices.IndexFunc(o.Suite.Tasks, func(t goldens.Task) bool { return t.ID == task })
	named := slices.ContainsFunc(o.Candidates, func(c goldens.Candidate) bool { return c.Name == candidate })
	switch trial, err := strconv.Atoi(parts[2]); {
	case !named && candidate != episode.ScriptedCandidate:
		return cassettes.Orphan, fmt.Sprintf("no candidate %.60q", candidate)
	case i < 0:
		return cassettes.Orphan, fmt.Sprintf("no task %.60q", task)
	case o.Suite.Tasks[i].Scripted == named:
		return cassettes.Orphan, "scripted tasks run only with the candidate scripted"
	case err != nil || trial < 1 || strconv.Itoa(trial) != parts[2]:
		return cassettes.Orphan, "not named by the number of a trial"
	case trial > o.Trials:
		return cassettes.Unused, fmt.Sprintf("trial %d of %d", trial, o.Trials)
	}
	return cassettes.Orphan, "its task calls no HTTP tool"
}

// forkedFrom is the source episode of a fork's cassette if the suite still has its task and
// candidates; otherwise empty.
func forkedFrom(o Options, name, candidate string) string {
	c, err := cassette.Inspect(cassette.File{FS: o.Cassettes, Path: name})
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

// cassetteStatus classifies the cassette of one episode. If an earlier cassette of its
// session is stale, so is this one, because the session history may change.
func cassetteStatus(o Options, plan *plan, p drive.Planned) (cassettes.Status, error) {
	var digests []string
	why := ""
	if p.Remembers() {
		for _, q := range plan.before(p) {
			s, digest, err := cassetteStatusAfter(o, q, digests)
			if err != nil {
				return s, err
			}
			if why == "" && s.State != cassettes.Fresh && p.Candidate.Provider != episode.ScriptedCandidate {
				why = fmt.Sprintf("session changed (its earlier task %s is %s)", q.Task.ID, s.State)
			}
			digests = append(digests, digest)
		}
	}
	s, _, err := cassetteStatusAfter(o, p, digests)
	if why != "" && (s.State == cassettes.Fresh || s.State == cassettes.Stale) {
		s.State, s.Why = cassettes.Stale, append(slices.DeleteFunc(s.Why, func(w string) bool { return w == sessionChanged }), why)
	}
	return s, err
}

// cassetteStatusAfter is the status given the digests of the session's earlier cassettes,
// as far as the cassette itself shows it; it includes the cassette's own digest.
func cassetteStatusAfter(o Options, p drive.Planned, digests []string) (s cassettes.Status, digest string, err error) {
	setHistory(&p, sessionHistory{digests: digests})
	s = cassettes.Status{Path: p.Cassette, State: cassettes.Fresh}
	if p.Cassette == "" {
		return s, "", nil
	}
	c, err := cassette.Inspect(cassette.File{FS: o.Cassettes, Path: p.Cassette})
	var missing *cassette.MissingError
	var corrupt *cassette.CorruptError
	switch {
	case errors.As(err, &missing):
		s.State = cassettes.Missing
	case errors.As(err, &corrupt):
		s.State, s.Why = cassettes.Corrupt, []string{corrupt.Reason}
	case err != nil:
		return s, "", err
	default:
		digest = c.Digest
		if s.Why = changes(c.Header, o.header(p)); s.Why != nil {
			s.State = cassettes.Stale
		}
	}
	return s, digest, nil
}

// ErrAllFresh means that a run with Options.Stale found no stale cassette.
var ErrAllFresh = errors.New("every selected cassette is fresh: nothing to record")

// stalePlan plans the selected episodes whose cassettes are not fresh. It does not read
// keys for the other ones.
func stalePlan(o Options) (*plan, error) {
	look := o
	look.Mode = recorder.Replay
	plan, err := makePlan(look)
	if err != nil {
		return nil, err
	}
	stale := map[string]bool{}
	o.Select.Candidates, o.Select.Tasks = nil, nil
	for _, p := range plan.all() {
		if p.Cassette == "" {
			continue
		}
		s, err := cassetteStatus(o, plan, p)
		if err != nil {
			return nil, err
		}
		if s.State != cassettes.Fresh {
			stale[p.Cassette] = true
			o.Select.Candidates = append(o.Select.Candidates, p.Candidate.Name)
			o.Select.Tasks = append(o.Select.Tasks, p.Task.ID)
		}
	}
	if len(stale) == 0 {
		return nil, ErrAllFresh
	}
	if plan, err = makePlan(o); err == nil {
		plan.keep(func(p drive.Planned) bool { return stale[p.Cassette] })
	}
	return plan, err
}

// header returns the header of the episode's cassette, without its day.
func (o Options) header(p drive.Planned) cassette.Header {
	p.Params.Memory = nil
	if p.Remembers() {
		p.Params.Memory = []strategy.Exchange{{}} // only its presence matters
	}
	h := cassette.Header{
		Suite: p.Suite.Name, Task: p.Task.ID, Candidate: p.Candidate.Name, Trial: p.Trial,
		Provider: p.Candidate.Provider, Model: p.Candidate.Model, Simulated: drive.Simulated(p.Candidate.Provider),
		Adapter: o.Adapters[p.Candidate.Provider], Digests: promptDigests(p),
	}
	h.Digests["policy"] = drive.DigestOf(p.Params.MaxTokens, p.Params.Temperature, p.Params.Budgets)
	h.Digests["task"] = o.taskDigest(p.Task)
	c := p.Candidate
	parts := []any{c.Agent, c.Rescue, c.RescueOnContradiction, c.BaseURL, c.Region, c.Stream, c.Headers, c.Query, c.Body}
	if part := agentPart(c); part != nil {
		parts = append(parts, part)
	}
	h.Digests["candidate"] = drive.DigestOf(parts...)
	for _, asked := range p.Task.Helpers() {
		role := string(asked.Role)
		h.Digests[role] = drive.DigestOf(h.Digests[role], o.Adapters[asked.Model.Provider], asked.Prompt)
	}
	if p.Before != "" {
		h.Digests["session"] = p.Before
	}
	forkHeader(p, &h)
	return h
}

// taskDigest covers the parts of a task that reach requests, except its displayed tools and
// budgets. It excludes expectations and credentials.
func (o Options) taskDigest(t goldens.Task) string {
	w := t.World
	w.Env, w.Now, w.Zone = nil, time.Time{}, nil
	var tools []any
	for _, name := range t.Tools {
		tools = append(tools, o.Suite.Approval(name))
		if spec, ok := o.Suite.HTTP[name]; ok {
			tools = append(tools, spec)
		}
		if server, ok := o.Suite.MCP[name]; ok {
			tools = append(tools, server)
		}
		if result, ok := o.Suite.Fixed[name]; ok {
			tools = append(tools, result)
		}
	}
	parts := []any{t.Request, t.Constraints, t.World.Now.UTC().Format(time.RFC3339Nano), t.World.Zone.String(), w, t.Replies, t.Approvals, t.Script, tools}
	if len(t.Inputs)+len(t.Images)+len(t.AnswerSchema) > 0 {
		parts = append(parts, t.Inputs, t.Each, t.Images, t.AnswerSchema)
	}
	if len(t.Human)+len(t.Messages) > 0 {
		parts = append(parts, t.Human, t.Messages)
	}
	return drive.DigestOf(parts...)
}

// sessionChanged describes a cassette whose session history has changed.
const sessionChanged = "session changed (an earlier task was recorded again or replaced)"

// changes returns how a recording differs from what a run would use today. It skips fields
// that the cassette lacks: cassettes of other tools have no digests, and in those without a
// task digest the policy digest is too broad.
func changes(was, is cassette.Header) []string {
	var why []string
	for _, f := range []struct{ name, was, is string }{
		{"provider", was.Provider, is.Provider}, {"model", was.Model, is.Model}, {"wire", was.Adapter, is.Adapter},
	} {
		if f.was != f.is && f.was != "" && f.is != "" {
			why = append(why, fmt.Sprintf("%s changed: %.60q → %.60q", f.name, f.was, f.is))
		}
	}
	for _, d := range []struct{ name, hint string }{
		{"prompt", ""}, {"tools", ""}, {"contract", ""}, {"policy", " (sampling settings or budgets)"},
		{"task", " (request, world, or its script)"}, {"candidate", " (address, rescue, or what is added to requests)"},
		{string(helper.Judge), " (rubric, model or prompt of a judge)"}, {string(helper.User), " (model or prompt of the simulated user)"},
		{"session", strings.TrimPrefix(sessionChanged, "session changed")},
	} {
		then := was.Digests[d.name]
		if then != "" && then != is.Digests[d.name] && (d.name != "policy" || was.Digests["task"] != "") {
			why = append(why, d.name+" changed"+d.hint)
		}
	}
	return why
}

// promptDigests identify what determines the prompts of an episode. For built-in strategies
// these are the templates. For a custom strategy they are its name, its profile and its
// first prompt for a made-up request without the task's tools, which have their own digest;
// only a replay shows changes of later prompts.
func promptDigests(p drive.Planned) map[string]string {
	d := agent.Digests(p.Candidate.Agent, p.Params, p.Strategies)
	if !p.Own() {
		return d
	}
	params := p.Params
	params.Request, params.Constraints, params.Memory = "r", "c", nil
	said := []any{p.Candidate.Agent, p.Candidate.Profile}
	for _, c := range p.FirstCalls(params) {
		tools := slices.DeleteFunc(slices.Clone(c.Call.Tools), func(t providers.Tool) bool { return params.Tools.Has(t.Name) })
		said = append(said, c.Call.System, c.Call.Messages, tools)
	}
	d["prompt"] = drive.DigestOf(said...)
	return d
}
