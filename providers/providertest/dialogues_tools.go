package providertest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// tools are available in the dialogues.
var tools = []providers.Tool{
	{Name: "get_weather", Description: "The weather in a city.", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"},"n":{"type":"integer"}},"required":["city","n"],"additionalProperties":false}`)},
	{Name: "get_time", Description: "The time."},
}

// using is a call with available tools whose last message is a script.
func using(lines ...string) providers.Call {
	return with(saying(lines...), func(c *providers.Call) { c.Tools = tools })
}

// oddArgs has what breaks when arguments are put together of pieces.
const oddArgs = `{"city":"Zürich \"x\" \u003c&> 日本","n":12345678901}`

// toolTalks are the dialogues with tools.
func toolTalks() []dialogue {
	return []dialogue{
		talk("tool call", using("call get_weather "+oddArgs), func(t require.TestingT, r providers.Reply) {
			require.Len(t, r.Calls, 1)
			require.Equal(t, "get_weather", r.Calls[0].Name)
			require.JSONEq(t, oddArgs, r.Calls[0].Args)
			require.Contains(t, r.Calls[0].Args, "12345678901", "a number lost its digits")
			require.Equal(t, providers.FinishTools, r.Finish)
			require.Empty(t, r.Text)
			require.Empty(t, r.Warnings)
		}),
		talk("tool call without arguments", using("call get_time {}"), func(t require.TestingT, r providers.Reply) {
			require.Len(t, r.Calls, 1)
			require.JSONEq(t, `{}`, r.Calls[0].Args)
		}),
		talk("text and tool call", using("say Let me see.", `call get_weather {"city":"Bern","n":1}`), func(t require.TestingT, r providers.Reply) {
			require.Equal(t, "Let me see.", r.Text)
			require.Len(t, r.Calls, 1)
			require.Equal(t, providers.FinishTools, r.Finish)
		}),
		talk("parallel calls", using(twoCalls...), func(t require.TestingT, r providers.Reply) {
			require.Len(t, r.Calls, 3)
			require.Equal(t, []string{"get_weather", "get_time", "get_weather"}, []string{r.Calls[0].Name, r.Calls[1].Name, r.Calls[2].Name})
			require.JSONEq(t, `{"city":"Bern","n":1}`, r.Calls[0].Args)
			require.JSONEq(t, `{"city":"Chur","n":2}`, r.Calls[2].Args)
		}),
		asked("serial", using(twoCalls...), func(c *providers.Call) { c.Serial = true }, func(t require.TestingT, r providers.Reply) {
			require.Len(t, r.Calls, 1)
		}),
		asked("tool choice none", using("say no tool"), func(c *providers.Call) { c.Choice.Kind = providers.ChoiceNone }, func(t require.TestingT, r providers.Reply) {
			require.Empty(t, r.Calls)
			require.Equal(t, "no tool", r.Text)
		}),
		asked("tool choice any", using("call get_time {}"), func(c *providers.Call) { c.Choice.Kind = providers.ChoiceAny }, requireCallOf("get_time")),
		asked("tool choice named", using("call get_time {}"), func(c *providers.Call) {
			c.Choice = providers.Choice{Kind: providers.ChoiceNamed, Name: "get_time"}
		}, requireCallOf("get_time")),
		loop("tool loop", []string{`think hm`, `say Let me see.`, `call get_weather {"city":"Bern","n":1}`}, false),
		loop("tool loop with parallel calls", twoCalls, false),
		loop("failed tool result", []string{`call get_weather {"city":"Bern","n":1}`}, true),
	}
}

// twoCalls calls two tools, one of them twice.
var twoCalls = []string{`call get_weather {"city":"Bern","n":1}`, `call get_time {}`, `call get_weather {"city":"Chur","n":2}`}

func requireCallOf(name string) func(t require.TestingT, r providers.Reply) {
	return func(t require.TestingT, r providers.Reply) {
		require.Len(t, r.Calls, 1)
		require.Equal(t, name, r.Calls[0].Name)
		require.Equal(t, providers.FinishTools, r.Finish)
	}
}

// asked is a dialogue about a setting: it must change the request, or a warning
// says that it does not.
func asked(name string, c providers.Call, set func(*providers.Call), check func(t require.TestingT, r providers.Reply)) dialogue {
	return dialogue{name, func(t require.TestingT, b *bench, ask ask) providers.Reply {
		ask(c)
		without := b.last(t).body
		r := ask(with(c, set))
		if without == b.last(t).body {
			require.NotEmpty(t, r.Warnings, "the setting is not part of the request, and no warning says so")
			return r
		}
		check(t, r)
		return r
	}}
}

// loop lets the probe call tools, answers every call, and has it repeat what it
// got. A failure must leave a trace in the request, or a
// warning.
func loop(name string, lines []string, failed bool) dialogue {
	return dialogue{name, func(t require.TestingT, b *bench, ask ask) providers.Reply {
		c := using(append(append([]string(nil), lines...), "then", "results")...)
		first := ask(c)
		require.NotEmpty(t, first.Calls)
		answered := func(failed bool) providers.Call {
			messages := append([]providers.Message(nil), c.Messages...)
			messages = append(messages, providers.Message{Role: providers.RoleAssistant, Text: first.Text, Calls: first.Calls, Continuation: first.Continuation})
			for i, call := range first.Calls {
				messages = append(messages, providers.Message{Role: providers.RoleTool, CallID: call.ID, Name: call.Name, Text: "result " + strings.Repeat("i", i+1) + " – é", Failed: failed})
			}
			return with(c, func(c *providers.Call) { c.Messages = messages })
		}
		last := ask(answered(failed))
		body := b.last(t).body
		at := 0
		for i, call := range first.Calls {
			want := "result " + strings.Repeat("i", i+1) + " – é"
			require.Contains(t, last.Text[at:], want, "the result is lost or out of order")
			if !failed {
				require.Contains(t, last.Text, call.Name+" -> "+want)
			}
			at += strings.Index(last.Text[at:], want) + len(want)
		}
		require.Empty(t, last.Calls)
		require.Equal(t, providers.FinishStop, last.Finish)
		if failed {
			ask(answered(false))
			require.True(t, b.last(t).body != body || len(last.Warnings) > 0, "neither the request nor a warning shows that the tool failed")
		}
		if first.Continuation != nil { // a foreign one is overlooked
			foreign := answered(failed)
			foreign.Messages[1].Continuation = []byte(`{"of":"another wire"}`)
			ask(foreign)
			require.NotEqual(t, body, b.last(t).body, "the continuation is not put back")
		}
		return last
	}}
}
