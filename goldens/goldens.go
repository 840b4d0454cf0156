// Package goldens defines what to do and how to score it: suites of golden tasks with their
// tools, candidates and accepted outcomes, and the checks of an episode's Outcome.
// Package load reads suites, package world is what their tools act on, and package
// draft adds a task to a suite.
package goldens

import (
	"context"
	"encoding/json"
	"io/fs"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/orchestrator/limits"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/persona"
	custom "github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/world"
)

// Suite is a set of golden tasks with the tools and the world they share. It is
// immutable once loaded and safe for concurrent use.
type Suite struct {
	Name, Title, Description string
	// Tools are all tools of the suite; a task offers some of them.
	Tools []tool.Spec
	// HTTP holds, by name, the tools that are run over HTTP.
	HTTP map[string]world.HTTPTool
	// MCP holds, by name, the tools that an MCP server runs.
	MCP map[string]toolserver.Server
	// Fixed holds, by name, the results of tools that are judged but not run.
	Fixed map[string]json.RawMessage
	// Approvals says, by name, who decides about a tool's calls; a tool that is
	// absent runs without asking.
	Approvals map[string]Approval
	// Worlds are the kinds of worlds that the suite was loaded with.
	Worlds map[string]world.Kind
	// Judges are the models that tasks name to judge episodes.
	Judges []helper.Jury
	// Candidates are the suite's default candidates.
	Candidates []Candidate
	Tasks      []Task
	// Digest is the SHA-256 hex of everything above that can change a result:
	// not of comments, texts for people, or candidates.
	Digest string
	// FS is where the suite was loaded from; its cassettes folder holds the
	// recorded exchanges. Path names it for people.
	FS   fs.FS
	Path string

	// Advice is what Lint reports. Warnings are what a task lets pass that it probably
	// should not: an outcome that an empty answer meets, a condition that every episode
	// meets, a forbidden tool whose name is almost that of a tool. A suite with warnings
	// is usable. Both are in the order of the files.
	Advice, Warnings []*Problem
}

// Lint reports what does not keep a suite from running but is likely a
// mistake: a tool no built-in world implements, a tool or world no task uses.
// Like load.Suite's, the error joins a *Problem for each. Tools that the program itself
// implements, as Go functions, need no world: goTools are their names.
func (s *Suite) Lint(goTools ...string) error {
	return yamlfile.JoinProblems(slices.DeleteFunc(slices.Clone(s.Advice), func(p *Problem) bool { return p.Tool != "" && slices.Contains(goTools, p.Tool) }))
}

// Candidate is what is under test. Names are data: they are matched exactly and
// keep their case.
type Candidate struct {
	// Name is unique in a run and made of a-z, 0-9, dot, dash and underscore:
	// it is a folder name of cassettes.
	Name string `yaml:"name"`
	// Agent is the strategy; empty means contract.
	Agent    string `yaml:"agent"`
	Provider string `yaml:"provider"`
	Model    string `yaml:"model"`
	// Mode and Profile are the output mode and prompt profile; empty means
	// prompt and the agent's default.
	Mode    string `yaml:"mode"`
	Profile string `yaml:"profile"`
	// Rescue is the model, of the same provider, asked once after two
	// consecutive contract violations; empty means none.
	Rescue string `yaml:"rescue"`
	// RescueOnContradiction asks it after a turn that contradicts itself, too.
	RescueOnContradiction bool `yaml:"rescue_on_contradiction"`
	// Compress has the model condense the agent's scratchpad now and then.
	Compress bool `yaml:"compress"`
	// BaseURL replaces the provider's address; KeyEnv names the environment
	// variable that holds its key. Empty means the provider's own.
	BaseURL string `yaml:"base_url"`
	KeyEnv  string `yaml:"key_env"`
	// Region is the cloud region, for providers that have them.
	Region string `yaml:"region"`
	// Stream asks for replies as they are made: the same replies, with the time to
	// the first token.
	Stream bool `yaml:"stream"`
	// Headers and Query are sent with every request, Body is laid over its JSON as
	// a merge patch (RFC 7396). No place for credentials.
	Headers map[string]string `yaml:"headers"`
	Query   map[string]string `yaml:"query"`
	Body    map[string]any    `yaml:"body"`
	// System comes before the strategy's own instructions; agents tools and plan.
	System string `yaml:"system,omitempty"`
	// Fallback is the model, of the same provider, asked when a call of Model fails;
	// empty means none. Agents tools and plan.
	Fallback string `yaml:"fallback,omitempty"`
	// MaxIterations bounds the turns that call tools, of agent plan those of one
	// step; 0 means 10.
	MaxIterations int `yaml:"max_iterations,omitempty"`
	// FinalRetries is how often a final answer that does not fit the task's schema is
	// asked for again; nil means once.
	FinalRetries *int `yaml:"final_retries,omitempty"`
	// NoImages leaves the images of tasks out.
	NoImages bool `yaml:"no_images,omitempty"`
	// Memory bounds what is remembered of the earlier tasks of a session.
	Memory Memory `yaml:"memory,omitempty"`
	// Batch says how agent tools works on the items of a task.
	Batch strategy.Batch `yaml:"batch,omitempty"`
	// Plan bounds agent plan.
	Plan strategy.PlanBounds `yaml:"plan,omitempty"`
	// Orchestrator bounds agent orchestrator.
	Orchestrator limits.Bounds `yaml:"orchestrator,omitempty"`
	// MaxTokens and Temperature replace the policy's values; nil keeps them.
	MaxTokens   *int     `yaml:"max_tokens"`
	Temperature *float64 `yaml:"temperature"`
	// Settings are those of agent external.
	external.Settings `yaml:",inline"`
}

// Memory bounds a session's memory: the latest exchanges that fit are shown.
type Memory struct {
	// Turns of 0 means 10, Tokens, by estimate, of 0 means 2,000. Off remembers nothing.
	Turns  int  `yaml:"turns,omitempty"`
	Tokens int  `yaml:"tokens,omitempty"`
	Off    bool `yaml:"off,omitempty"`
}

// Picture is an image shown with a request.
type Picture struct {
	// File is where it was read from, below the suite; no digest covers it.
	File      string `json:"-"`
	MediaType string
	Data      []byte
}

// Task is one golden task: a request, its world, and what must come of it.
type Task struct {
	ID, Title, Tier string
	// Tags are free words for selection; Probes say what the task tests.
	Tags, Probes []string
	// Requires are capabilities without which no strategy can solve the task, such as
	// strategy.CanAsk. They change no result, and no digest covers them.
	Requires []string `json:"-"`
	// Scripted tasks prove one harness behaviour with a scripted model and are
	// run with no other candidate.
	Scripted             bool
	Request, Constraints string
	// Inputs are values that come with the request, in the order written. Each, if
	// not empty, names one that is a list: agent tools works on its items one by one;
	// {item}, or {field} of items that are objects, represents it in the request.
	Inputs []strategy.Input `json:",omitempty"`
	Each   string           `json:",omitempty"`
	// Images are shown with the request.
	Images []Picture `json:",omitempty"`
	// AnswerSchema is the JSON Schema of the answer; with Each, of every element of
	// the answer, a list. nil means text.
	AnswerSchema json.RawMessage `json:",omitempty"`
	// Session names the conversation that the task belongs to: tasks of one session
	// follow each other in the order of the suite, and remember. Empty means none.
	Session string `json:",omitempty"`
	// Tools are the names of the available tools, in prompt order.
	Tools []string
	// Functions are declarations, as JSON, that the task offers in place of tools. None is
	// run: the first reply of the model is the answer, with the calls that it asks for.
	Functions json.RawMessage `json:",omitempty"`
	World     world.Spec
	Budgets   guard.Budgets
	// Replies are what the scripted human answers to clarifying questions, in
	// order; later questions have no answer.
	Replies []string
	// Approvals are what the scripted human says when asked whether a tool call
	// may run, in order: true approves. Afterwards every call is declined.
	Approvals []bool `json:",omitempty"`
	// Human are the rules of a scripted human, which answers in place of Replies and
	// Approvals. Messages are the user's further messages.
	Human []human.Rule `json:",omitempty"`
	// User is a simulated user, which answers questions in place of Replies and continues
	// the conversation; nil for none.
	User     *persona.User   `json:"-"`
	Messages []human.Message `json:",omitempty"`
	// Script are the model outputs of a Scripted task.
	Script []Emit
	// Agent is the strategy of a Scripted task; empty means contract.
	Agent string `json:",omitempty"`
	// Fails names the checks that the script of a Scripted task must fail: such a
	// task proves the scoring. Score counts it as solved if exactly these fail.
	Fails []string `json:",omitempty"`
	// Expect lists accepted outcomes: an episode is solved if all checks of one
	// of them pass. The first is the intended one.
	Expect []Expect
	// Attack is set in the tasks that injections make; nil in others.
	Attack *Attack `json:",omitempty"`
	// File and Line say where the task is defined.
	File string
	Line int
}

// Items are the items of the input that Each names; none without Each.
func (t Task) Items() (items []json.RawMessage) {
	for _, in := range t.Inputs {
		if in.Name == t.Each {
			_ = json.Unmarshal(in.Value, &items) // a list, or no items
		}
	}
	return items
}

// Emit is one output of a scripted model.
type Emit struct {
	Text string
	// Calls are native tool calls.
	Calls []EmitCall `json:",omitempty"`
	// Rescue reports that the rescue model must be the one asked; Reflect that the
	// turn must be a reflect turn.
	Rescue, Reflect bool
	// Cut reports that the token cap cut the output off.
	Cut bool `json:",omitempty"`
	// Tokens and CostNanoUSD are what the output reports as used; nil means that it
	// reports nothing.
	Tokens      *int64 `json:",omitempty"`
	CostNanoUSD *int64 `json:",omitempty"`
}

// EmitCall is a native tool call of a scripted model. Args is the text of the
// arguments, which may not be valid JSON.
type EmitCall struct{ Name, Args string }

// Outcome is what an episode did, as far as checks look at it.
type Outcome struct {
	Status, StopReason, Answer string
	// Calls are the tool calls in order, refused and cached ones included.
	Calls []Called
	// Asked are the calls that turns asked for, those among them that never became
	// one of Calls: of a turn that could not be acted on, or that ended the episode.
	Asked                                 []tool.Call
	Steps, Clarifies                      int
	ModelCalls, ReflectTurns, RescueTurns int
	Violations, Repaired, ValidRaw        int
	DedupeHits, ThrashEvents, StallEvents int
	DurationSpikes                        int
	// RejectedCalls counts the calls of Calls that were rejected, BudgetRefusals those
	// of them that were beyond the budget; CircuitOpen the calls that the open circuit
	// breaker refused; CycleEvents the turns that repeated two alternating actions.
	RejectedCalls, BudgetRefusals, CircuitOpen, CycleEvents int
	AllTurnsValidJSON                                       bool
	Elapsed                                                 time.Duration
	// StateBefore and StateAfter are the states of the world at the start and the end of
	// the episode, as canonical JSON; nil if the world has none that can change.
	StateBefore, StateAfter json.RawMessage
	// Requests are what people were asked for, in order.
	Requests []human.Requested
	// Talk is the conversation with the simulated user.
	Talk []persona.Exchange
	// Scores are what scorers and judges found, by the names of their checks.
	Scores map[string]custom.Result
}

// Called is one tool call of an Outcome.
type Called struct {
	Call tool.Call
	// Role is that of the turn that asked for the call.
	Role    string
	Outcome tool.Outcome
	// Deduped calls were answered from an earlier result: not executed.
	Deduped bool
	// Result is the value the tool returned; nil unless Outcome is ok.
	Result []byte
	// Changed reports that the call changed the state of the world, Harm why that does harm;
	// empty if the world reports no harm.
	Changed bool
	Harm    string
}

// Executed reports whether the call ran its tool: it was neither rejected nor answered
// from an earlier result.
func (c Called) Executed() bool { return made(c) && !c.Deduped }

// Executions counts the calls that ran a tool.
func (o Outcome) Executions() int {
	n := 0
	for _, c := range o.Calls {
		if c.Executed() {
			n++
		}
	}
	return n
}

// CheckResult is one scored check.
type CheckResult struct {
	Name   string
	Passed bool
	// Detail says what was expected and what was found; empty when passed.
	Detail string
}

// OpenWorld opens the world of a task in its initial state, for an episode with this seed.
// The error is that of world.Open.
func OpenWorld(ctx context.Context, t Task, seed uint64) (*world.Environment, error) {
	return world.Open(ctx, t.World, seed, t.Replies, t.Approvals)
}

// Approval says who decides whether a tool call runs.
type Approval string

// The approvals.
const (
	ApproveAlways Approval = "always" // runs without asking
	ApproveAsk    Approval = "ask"    // the human is asked every time
	ApproveNever  Approval = "never"  // refused without asking
)

// Approval returns who decides about calls of a tool.
func (s *Suite) Approval(tool string) Approval {
	if a, ok := s.Approvals[tool]; ok {
		return a
	}
	return ApproveAlways
}

// Remote reports whether a tool is run by a service outside the world: over HTTP or by an
// MCP server.
func (s *Suite) Remote(tool string) bool {
	_, overHTTP := s.HTTP[tool]
	_, served := s.MCP[tool]
	return overHTTP || served
}

// Problem is one fault of a suite file: where it is, what is wrong and what would be
// right.
type Problem = yamlfile.Problem
