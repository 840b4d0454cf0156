package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// TestToolsScenarios runs the scripts in testdata/tools. A script's unindented lines
// are commands (see toolsHandlers), the indented lines below each are its whole
// trace. An event goes to the oldest command outstanding of its kind, or with @N
// before it to command N. Rewrite the traces with:
// go test ./agent -run TestToolsScenarios -update
func TestToolsScenarios(t *testing.T) {
	runScripts(t, "testdata/tools/*.txt", func(t *testing.T) func(string) string {
		s := &toolsScenario{t: t, at: testStart, open: map[int]Command{}, params: Params{Request: "Angry on 2026-05-09?", Tools: testTools(t), MaxTokens: 400}}
		return s.do
	})
}

// toolsScenario is a driver that a script controls.
type toolsScenario struct {
	t       *testing.T
	params  Params
	machine Machine
	at      time.Time
	open    map[int]Command
	target  int // command that the event is for; 0 for the oldest of its kind
	next    providers.Reply
}

// toolsHandlers has one entry per command of the language; arg is the rest of the line.
var toolsHandlers = map[string]func(s *toolsScenario, arg string) string{
	"request":     func(s *toolsScenario, arg string) string { s.params.Request = unescape(arg); return "" },
	"system":      func(s *toolsScenario, arg string) string { s.params.System = arg; return "" },
	"constraints": func(s *toolsScenario, arg string) string { s.params.Constraints = arg; return "" },
	"schema":      func(s *toolsScenario, arg string) string { s.params.AnswerSchema = json.RawMessage(arg); return "" },
	"input": func(s *toolsScenario, arg string) string {
		name, value, _ := strings.Cut(arg, " ")
		s.params.Inputs = append(s.params.Inputs, strategy.Input{Name: name, Value: json.RawMessage(value)})
		return ""
	},
	"memory": func(s *toolsScenario, arg string) string {
		request, answer, _ := strings.Cut(arg, " | ")
		s.params.Memory = append(s.params.Memory, strategy.Exchange{Request: request, Answer: answer})
		return ""
	},
	"start":   startTools,
	"advance": func(s *toolsScenario, arg string) string { s.at = s.at.Add(s.duration(arg)); return "" },
	"prompt":  (*toolsScenario).prompt,

	// What the next reply has besides, then replies: text, cut text, calls.
	"say":       func(s *toolsScenario, arg string) string { s.next.Text = unescape(arg); return "" },
	"reasoning": func(s *toolsScenario, arg string) string { s.next.Reasoning = arg; return "" },
	"refusal":   func(s *toolsScenario, arg string) string { s.next.Refusal = arg; return "" },
	"carries":   func(s *toolsScenario, arg string) string { s.next.Continuation = json.RawMessage(arg); return "" },
	"reply":     func(s *toolsScenario, arg string) string { s.next.Text = unescape(arg); return s.reply() },
	"cut":       func(s *toolsScenario, _ string) string { s.next.Finish = providers.FinishLength; return "" },
	"calls":     calls,
	"tool":      (*toolsScenario).toolResult,
	"given":     (*toolsScenario).given,
	"user": func(s *toolsScenario, arg string) string {
		return s.step(UserReplied{At: s.at, ID: forCommand[AskUser](s), Text: arg})
	},
	"silent": func(s *toolsScenario, _ string) string {
		return s.step(UserReplied{At: s.at, ID: forCommand[AskUser](s), Silent: true})
	},
	"fail": func(s *toolsScenario, arg string) string {
		return s.step(ModelFailed{At: s.at, ID: forCommand[CallModel](s), Err: errors.New(arg)})
	},
	"refuse": func(s *toolsScenario, arg string) string {
		return s.step(ModelFailed{At: s.at, ID: forCommand[CallModel](s), Err: errors.New(arg), Answered: true})
	},
	"waited":   func(s *toolsScenario, _ string) string { return s.step(Waited{At: s.at, ID: forCommand[Wait](s)}) },
	"deadline": func(s *toolsScenario, _ string) string { return s.step(Deadline{At: s.at}) },
	"cancel":   func(s *toolsScenario, _ string) string { return s.step(Cancelled{At: s.at}) },
}

func (s *toolsScenario) do(line string) string {
	if rest, ok := strings.CutPrefix(line, "@"); ok {
		id, rest, _ := strings.Cut(rest, " ")
		s.target, line = s.number(id), rest
	}
	name, arg, _ := strings.Cut(line, " ")
	if name == "panics" {
		var message any
		func() {
			defer func() { message = recover() }()
			s.do(arg)
		}()
		return fmt.Sprintf("panic: %v\n", message)
	}
	handler, ok := toolsHandlers[name]
	require.True(s.t, ok, "unknown scenario command %q", line)
	return handler(s, arg)
}

func (s *toolsScenario) number(text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(s.t, err)
	return n
}

func (s *toolsScenario) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	require.NoError(s.t, err)
	return d
}

// startTools begins the episode: start max_steps=5 profile=react fallback …
func startTools(s *toolsScenario, arg string) string {
	p := &s.params
	for word := range strings.FieldsSeq(arg) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "max_steps":
			p.Budgets.MaxSteps = s.number(value)
		case "max_tool_calls":
			p.Budgets.MaxToolCalls = s.number(value)
		case "max_seconds":
			p.Budgets.MaxTime = time.Duration(s.number(value)) * time.Second
		case "max_tokens":
			p.Budgets.MaxTokens = int64(s.number(value))
		case "max_cost":
			p.Budgets.MaxCostNanoUSD = int64(s.number(value))
		case "max_iterations":
			p.MaxIterations = s.number(value)
		case "final_retries":
			p.FinalRetries = new(s.number(value))
		case "profile":
			p.Profile = value
		case "fallback":
			p.Fallback = true
		case "image":
			p.Images = []providers.Image{{URL: value}}
		case "each":
			p.Each = value
		case "size":
			p.Batch.Size = s.number(value)
		case "delay":
			p.Batch.Delay = s.duration(value)
		case "stop_on_fail":
			p.Batch.StopOnFail = true
		default:
			s.t.Fatalf("unknown parameter %q", word)
		}
	}
	var err error
	s.machine, err = New("tools", *p, nil)
	require.NoError(s.t, err)
	return s.step(Started{At: s.at})
}

// forCommand is the command that the event is for.
func forCommand[C Command](s *toolsScenario) int {
	id := s.target
	s.target = 0
	if id != 0 {
		return id
	}
	for candidate, c := range s.open {
		if _, ok := c.(C); ok && (id == 0 || candidate < id) {
			id = candidate
		}
	}
	return id
}

// prompt shows how the model call outstanding begins.
func (s *toolsScenario) prompt(string) string {
	c := s.open[forCommand[CallModel](s)].(CallModel).Call
	out := quote(c.System) + "\n"
	for _, t := range c.Tools {
		out += fmt.Sprintf("  offers %s: %s %s\n", t.Name, t.Description, t.Schema)
	}
	return out + showConversation(c.Messages)
}

func (s *toolsScenario) reply() string {
	r := s.next
	s.next = providers.Reply{}
	r.Usage = providers.Usage{Reported: true, Input: 100, Output: 10}
	return s.step(ModelReplied{At: s.at, ID: forCommand[CallModel](s), Reply: r, CostNanoUSD: new(int64(1000))})
}

// calls replies with calls: calls NAME ARGS | #ID NAME ARGS
func calls(s *toolsScenario, arg string) string {
	for one := range strings.SplitSeq(arg, " | ") {
		var c providers.ToolCall
		if id, rest, ok := strings.Cut(one, " "); ok && strings.HasPrefix(id, "#") {
			c.ID, one = id[1:], rest
		}
		c.Name, c.Args, _ = strings.Cut(one, " ")
		s.next.Calls = append(s.next.Calls, c)
	}
	return s.reply()
}

// toolResult ends a tool call that is run: tool ok VALUE, or tool error|timeout|rejected CODE MESSAGE.
func (s *toolsScenario) toolResult(arg string) string {
	outcome, rest, _ := strings.Cut(arg, " ")
	r := tool.Result{Outcome: tool.Outcome(outcome)}
	if r.Outcome == tool.OK {
		r.Value = json.RawMessage(rest)
	} else {
		r.Code, r.Message, _ = strings.Cut(rest, " ")
	}
	return s.step(ToolReturned{At: s.at, ID: forCommand[CallTool](s), Result: r})
}

// given answers every call that was decided before it ran, oldest first.
func (s *toolsScenario) given(string) string {
	var out string
	var ids []int
	for id, c := range s.open {
		if c, ok := c.(CallTool); ok && c.Given != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		out += s.step(ToolReturned{At: s.at, ID: id, Result: *s.open[id].(CallTool).Given})
	}
	return out
}

func (s *toolsScenario) step(ev Event) string {
	ready := s.machine.Step(ev)
	delete(s.open, eventID(ev))
	var out strings.Builder
	if j := ready.Judgement; j != nil {
		out.WriteString(showJudgement(*j) + "\n")
	}
	for _, c := range ready.Commands {
		if id := commandID(c); id != 0 {
			s.open[id] = c
		}
		out.WriteString(showToolsCommand(c) + "\n")
	}
	u := ready.Used
	fmt.Fprintf(&out, "used steps=%d tool_calls=%d tokens=%d elapsed=%v\n", u.Steps, u.ToolCalls, u.Tokens, u.Elapsed)
	return out.String()
}

func showToolsCommand(c Command) string {
	switch c := c.(type) {
	case CallModel:
		out := fmt.Sprintf("-> model id=%d parent=%d %s/%s", c.ID, c.Parent, c.Role, c.Kind)
		if c.Whom != "" {
			out += " whom=" + c.Whom
		}
		if c.Step != "" {
			out += " step=" + c.Step
		}
		if c.Call.Choice.Kind != "" {
			out += fmt.Sprintf(" choice=%s:%s", c.Call.Choice.Kind, c.Call.Choice.Name)
		}
		messages := c.Call.Messages
		for i := len(messages) - 1; i > 0; i-- {
			if messages[i].Role == providers.RoleAssistant {
				return out + "\n" + showConversation(messages[i:])
			}
		}
		return out
	case Wait:
		return fmt.Sprintf("-> wait id=%d parent=%d %v", c.ID, c.Parent, c.For)
	}
	return showCommand(c)
}

// showConversation shows messages with all they carry.
func showConversation(messages []providers.Message) string {
	var out []string
	for _, m := range messages {
		head := "  " + m.Role
		if m.CallID != "" {
			head += " " + m.CallID + " " + m.Name
		}
		if m.Failed {
			head += " failed"
		}
		for _, i := range m.Images {
			head += " image=" + i.URL
		}
		if m.Continuation != nil {
			head += " carries=" + string(m.Continuation)
		}
		if m.Text != "" {
			head += "\n" + quote(m.Text)
		}
		for _, c := range m.Calls {
			head += fmt.Sprintf("\n  calls %s %s %s", c.ID, c.Name, c.Args)
		}
		out = append(out, head)
	}
	return strings.Join(out, "\n")
}
