package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
)

// TestScenarios runs the scripts in testdata. A script's unindented lines are
// commands (see handlers), the indented lines below each are its whole trace:
// what the machine made of the event, and every command it issued. Rewrite the
// traces with: go test ./agent -run TestScenarios -update
func TestScenarios(t *testing.T) {
	runScripts(t, "testdata/*.txt", func(t *testing.T) func(string) string {
		env := &scenario{t: t, params: Params{Request: "Angry on 2026-05-09?", Tools: testTools(t), MaxTokens: 400, Temperature: 0.1}}
		return env.do
	})
}

// runScripts compares every script with its trace: start begins a script and returns a function that
// executes a line.
func runScripts(t *testing.T, pattern string, start func(t *testing.T) func(line string) string) {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, err := os.ReadFile(file)
			require.NoError(t, err)
			do := start(t)
			var out strings.Builder
			for line := range strings.Lines(string(script)) {
				line = strings.TrimRight(line, "\n")
				if strings.HasPrefix(line, "  ") {
					continue
				}
				out.WriteString(line + "\n")
				if line == "" || strings.HasPrefix(line, "#") {
					continue
				}
				for l := range strings.Lines(do(line)) {
					out.WriteString(strings.TrimRight("  "+l, " \n") + "\n")
				}
			}
			testkit.Golden(t, file, out.String())
		})
	}
}

// scenario is a driver that a script controls.
type scenario struct {
	t       *testing.T
	params  Params
	plan    string
	reason  string
	cost    *int64        // of the replies to come; nil: unknown
	silent  bool          // the replies to come report no usage
	took    time.Duration // of the tool results to come
	machine Machine
	at      time.Time
	waiting Command
}

// handlers has one entry per command of the scenario language; arg is the rest
// of the line.
var handlers = map[string]func(s *scenario, arg string) string{
	"request":     func(s *scenario, arg string) string { s.params.Request = unescape(arg); return "" },
	"constraints": func(s *scenario, arg string) string { s.params.Constraints = unescape(arg); return "" },
	"plan":        func(s *scenario, arg string) string { s.plan = unescape(arg); return "" },
	"reason":      func(s *scenario, arg string) string { s.reason = arg; return "" },
	"cost":        cost,
	"usage":       func(s *scenario, arg string) string { s.silent = arg == "none"; return "" },
	"took":        took,
	"start":       start,
	"advance":     advance,
	"prompt":      func(s *scenario, _ string) string { return quote(s.waiting.(CallModel).Call.Messages[0].Text) },
	"messages":    func(s *scenario, _ string) string { return showMessages(s.waiting.(CallModel).Call.Messages) },
	"format":      format,
	"system":      func(s *scenario, _ string) string { return quote(s.waiting.(CallModel).Call.System) },

	// Events. reply takes raw output, the other four build a contract object.
	"reply":     func(s *scenario, arg string) string { return s.reply(unescape(arg), providers.FinishStop) },
	"truncated": func(s *scenario, arg string) string { return s.reply(arg, providers.FinishLength) },
	"call":      call,
	"respond":   func(s *scenario, arg string) string { return s.act("ok", action{"type": "respond", "message": arg}) },
	"cannot": func(s *scenario, arg string) string {
		return s.act("cannot_proceed", action{"type": "respond", "message": arg})
	},
	"clarify": func(s *scenario, arg string) string {
		return s.act("need_clarification", action{"type": "clarify", "message": arg})
	},
	"fail": func(s *scenario, arg string) string {
		return s.step(ModelFailed{At: s.at, ID: s.id(), Err: errors.New(arg)})
	},
	"refuse": func(s *scenario, arg string) string {
		return s.step(ModelFailed{At: s.at, ID: s.id(), Err: errors.New(arg), Answered: true})
	},
	"tool": toolResult,
	"big":  big,
	"given": func(s *scenario, _ string) string {
		return s.step(ToolReturned{At: s.at, ID: s.id(), Result: *s.waiting.(CallTool).Given})
	},
	"user": func(s *scenario, arg string) string {
		return s.step(UserReplied{At: s.at, ID: s.id(), Text: unescape(arg)})
	},
	"silent":   func(s *scenario, _ string) string { return s.step(UserReplied{At: s.at, ID: s.id(), Silent: true}) },
	"deadline": func(s *scenario, _ string) string { return s.step(Deadline{At: s.at}) },
	"cancel":   func(s *scenario, _ string) string { return s.step(Cancelled{At: s.at}) },
	"restart":  func(s *scenario, _ string) string { return s.step(Started{At: s.at}) },
	"stray":    func(s *scenario, arg string) string { return s.step(stray(s, arg)) },
}

func (s *scenario) do(line string) string {
	name, arg, _ := strings.Cut(line, " ")
	if name == "panics" {
		var message any
		func() {
			defer func() { message = recover() }()
			s.do(arg)
		}()
		return fmt.Sprintf("panic: %v\n", message)
	}
	handler, ok := handlers[name]
	require.True(s.t, ok, "unknown scenario command %q", line)
	return handler(s, arg)
}

// start begins the episode: start max_steps=5 max_tool_calls=5 max_seconds=30
// max_tokens=1000 max_cost=5000 profile=schema mode=json_object rescue contradictions compress.
func start(s *scenario, arg string) string {
	for word := range strings.FieldsSeq(arg) {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "max_steps":
			s.params.Budgets.MaxSteps = n
		case "max_tool_calls":
			s.params.Budgets.MaxToolCalls = n
		case "max_seconds":
			s.params.Budgets.MaxTime = time.Duration(n) * time.Second
		case "max_tokens":
			s.params.Budgets.MaxTokens = int64(n)
		case "max_cost":
			s.params.Budgets.MaxCostNanoUSD = int64(n)
		case "profile":
			s.params.Profile = value
		case "mode":
			s.params.Mode = value
		case "rescue":
			s.params.Rescue = true
		case "contradictions":
			s.params.RescueOnContradiction = true
		case "compress":
			s.params.Compress = true
		default:
			s.t.Fatalf("unknown parameter %q", word)
		}
	}
	var err error
	s.machine, err = New("contract", s.params, nil)
	require.NoError(s.t, err)
	s.at = testStart
	return s.step(Started{At: s.at})
}

func advance(s *scenario, arg string) string {
	d, err := time.ParseDuration(arg)
	require.NoError(s.t, err)
	s.at = s.at.Add(d)
	return ""
}

func (s *scenario) reply(text string, finish providers.Finish) string {
	usage := providers.Usage{Reported: true, Input: 100, Output: 10}
	if s.silent {
		usage = providers.Usage{}
	}
	return s.step(ModelReplied{At: s.at, ID: s.id(), CostNanoUSD: s.cost, Reply: providers.Reply{Text: text, Finish: finish, Usage: usage}})
}

// cost sets the cost of the following replies: cost 2000, or cost unknown.
func cost(s *scenario, arg string) string {
	s.cost = nil
	if arg != "unknown" {
		n, err := strconv.ParseInt(arg, 10, 64)
		require.NoError(s.t, err)
		s.cost = &n
	}
	return ""
}

// took sets the duration of the following tool calls.
func took(s *scenario, arg string) string {
	var err error
	s.took, err = time.ParseDuration(arg)
	require.NoError(s.t, err)
	return ""
}

// format shows how the call in progress asks for structured output.
func format(s *scenario, _ string) string {
	f := s.waiting.(CallModel).Call.Format
	if f == nil {
		return "no format\n"
	}
	return fmt.Sprintf("%s %s %s\n", f.Mode, f.Name, f.Schema)
}

func (s *scenario) act(reason string, a action) string {
	if s.reason != "" {
		reason, s.reason = s.reason, ""
	}
	return s.reply(turnText(s.t, reason, a, s.plan), providers.FinishStop)
}

// call asks for a tool: call NAME [ARGS].
func call(s *scenario, arg string) string {
	name, args, _ := strings.Cut(arg, " ")
	if args == "" {
		args = "{}"
	}
	return s.act("ok", action{"type": "tool", "name": name, "args": json.RawMessage(args)})
}

// toolResult ends a tool call: tool ok VALUE, or tool error|timeout|rejected CODE MESSAGE.
func toolResult(s *scenario, arg string) string {
	outcome, rest, _ := strings.Cut(arg, " ")
	r := tool.Result{Outcome: tool.Outcome(outcome), Duration: s.took}
	s.at = s.at.Add(s.took)
	if r.Outcome == tool.OK {
		r.Value = json.RawMessage(rest)
	} else {
		r.Code, r.Message, _ = strings.Cut(rest, " ")
		r.Message = unescape(r.Message)
	}
	return s.step(ToolReturned{At: s.at, ID: s.id(), Result: r})
}

// big ends a tool call with a long string: big CHARACTER LENGTH.
func big(s *scenario, arg string) string {
	char, length, _ := strings.Cut(arg, " ")
	n, err := strconv.Atoi(length)
	require.NoError(s.t, err)
	return toolResult(s, "ok "+strconv.Quote(strings.Repeat(char, n)))
}

// stray is an event with an id that no outstanding command has: stray reply|tool|user|fail ID.
func stray(s *scenario, arg string) Event {
	what, id, _ := strings.Cut(arg, " ")
	n, err := strconv.Atoi(id)
	require.NoError(s.t, err)
	return map[string]Event{
		"reply": ModelReplied{At: s.at, ID: n},
		"tool":  ToolReturned{At: s.at, ID: n},
		"user":  UserReplied{At: s.at, ID: n},
		"fail":  ModelFailed{At: s.at, ID: n},
	}[what]
}

// id is that of the command outstanding.
func (s *scenario) id() int { return commandID(s.waiting) }

func (s *scenario) step(ev Event) string {
	ready := s.machine.Step(ev)
	var out strings.Builder
	if j := ready.Judgement; j != nil {
		out.WriteString(showJudgement(*j) + "\n")
	}
	for _, c := range ready.Commands {
		s.waiting = c
		out.WriteString(showCommand(c) + "\n")
	}
	if ready.DurationSpike {
		out.WriteString("duration spike\n")
	}
	u := ready.Used
	fmt.Fprintf(&out, "used steps=%d tool_calls=%d tokens=%d elapsed=%v", u.Steps, u.ToolCalls, u.Tokens, u.Elapsed)
	if s.params.Budgets.MaxCostNanoUSD > 0 {
		fmt.Fprintf(&out, " cost=%d", u.CostNanoUSD)
		if u.CostUnknown {
			out.WriteString(" or more")
		}
	}
	out.WriteByte('\n')
	return out.String()
}

func showJudgement(j Judgement) string {
	out := "judged"
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"json", j.ValidJSON}, {"actionable", j.Actionable}, {"valid", j.ContractValid}, {"repaired", j.Repaired},
		{"done", j.Done}, {"thrash", j.Thrash}, {"cycle", j.Cycle}, {"stall", j.Stall},
	} {
		if flag.set {
			out += " " + flag.name
		}
	}
	if j.ActionType != "" {
		out += fmt.Sprintf(" action=%s:%s reason=%s", j.ActionType, j.ActionName, j.Reason)
	}
	if j.Confidence != nil {
		out += fmt.Sprintf(" confidence=%v", *j.Confidence)
	}
	out += fmt.Sprintf(" plan_rev=%d", j.PlanRev)
	if len(j.Violations) > 0 {
		out += fmt.Sprintf(" violations=%v", j.Violations)
	}
	if len(j.Warnings) > 0 {
		out += fmt.Sprintf(" warnings=%v", j.Warnings)
	}
	return out
}

func showCommand(c Command) string {
	switch c := c.(type) {
	case CallModel:
		out := fmt.Sprintf("-> model id=%d parent=%d %s/%s timeout=%v", c.ID, c.Parent, c.Role, c.Kind, c.Timeout)
		if c.Kind == turn.KindCompress || len(c.Call.Messages) > 1 {
			return out + "\n" + showMessages(c.Call.Messages)
		}
		prompt := c.Call.Messages[0].Text
		if !strings.Contains(prompt, "\nPROGRESS:") {
			return out
		}
		obs := prompt[strings.Index(prompt, "\nPROGRESS:")+1 : strings.Index(prompt, "\nTOOLS (")]
		return out + "\n" + quote(strings.TrimSpace(obs))
	case CallTool:
		out := fmt.Sprintf("-> tool id=%d parent=%d %s retry=%d", c.ID, c.Parent, c.Key, c.RetryIndex)
		if c.Given != nil {
			out += fmt.Sprintf(" given=%s:%s:%s:%s", c.Given.Outcome, c.Given.Code, c.Given.Message, c.Given.Value)
		}
		if c.Deduped {
			out += " deduped"
		}
		if c.CircuitOpen {
			out += " circuit_open"
		}
		return out
	case AskUser:
		return fmt.Sprintf("-> user id=%d parent=%d %q", c.ID, c.Parent, c.Question)
	case Finish:
		return fmt.Sprintf("-> finish %s %s answer=%q err=%v", c.Status, c.StopReason, c.Answer, c.Err)
	}
	return fmt.Sprintf("-> unknown %T", c)
}

// showMessages shows a conversation. The request that begins a long one is left
// out: the command prompt shows it.
func showMessages(messages []providers.Message) string {
	var out []string
	for i, m := range messages {
		if i > 0 || len(messages) == 1 {
			out = append(out, "  "+m.Role+"\n"+quote(m.Text))
		}
	}
	return strings.Join(out, "\n")
}

func unescape(text string) string { return strings.ReplaceAll(text, `\n`, "\n") }

// longRuns are runs of one of the letters that big is used with.
var longRuns = regexp.MustCompile(`a{40,}|b{40,}|c{40,}|d{40,}|e{40,}|f{40,}|g{40,}|h{40,}`)

// quote shows text line by line, long runs of a letter as a{600}.
func quote(text string) string {
	text = longRuns.ReplaceAllStringFunc(text, func(run string) string { return fmt.Sprintf("%c{%d}", run[0], len(run)) })
	return "  | " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  | ")
}
