package playbook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/playbook"
)

const planned = `
  - call: today
    as: day
  - plan:
      - {id: find, title: Find the hits, kind: research, spec: Search for cross texts., do: [{call: search, args: {text: cross}, as: hits}]}
      - id: refund
        title: Refund the day
        kind: delegate
        spec: Refund the job of the day.
        deps: [find]
        do:
          - call: job
            args: {id: 7}
            as: j
          - if: j == nil
            then: [{give_up: There is no job.}]
          - call: refund
            args: {order: x}
            as: paid
    on_error: [{answer: "Nothing was done: {{error}}."}]
    on_failed: [{answer: "It failed: {{error}}"}]
    on_feedback:
      - plan:
          - {id: again, title: Search, kind: research, spec: Search once more., do: [{call: search, args: {text: other}, as: hits}]}
  - answer: "{{hits}} {{day}}"
`

const checked = `
  - plan:
      - {id: find, title: Find, kind: research, spec: Search for cross texts., do: [{call: search, args: {text: cross}, as: hits}]}
      - {id: check, title: Check, kind: checkpoint, spec: Check the job., deps: [find], do: [{call: job, args: {id: 7}, as: j}]}
  - answer: "{{hits}} {{j}}"
`

const corrected = `
  - build: Build something.
    do:
      - if: len(corrections) > 0
        then: [{call: search, args: {text: "{{corrections[0]}}"}, as: hits}]
        else: [{call: search, args: {text: x}, as: other}]
  - answer: "{{hits}} {{other}}"
`

const delegated = `
  - call: today
    as: day
  - delegate: {role: counter, instructions: Count., briefing: Count what is angry.}
    do:
      - call: count
        args: {day: "{{day.date}}", label: angry}
        as: n
  - answer: "{{n}}"
`

const built = `
  - build: Build a flow that counts.
    as: job
    do: [{call: search, args: {text: x}, as: hits}]
    on_message:
      - call: cancel-background-task
        args: {taskId: "{{job.taskId}}"}
      - answer: "I stopped, as you said: {{message}}"
  - reply: Built.
    as: thanks
  - answer: "You said {{thanks}}, {{hits}}"
`

// orchestrated follows a solution as an orchestrator, until it waits; it answers calls of
// tools that hand work over with value.
func orchestrated(t *testing.T, steps string, seen playbook.Seen, value string) (string, playbook.Seen) {
	t.Helper()
	play := playOf(t, steps)
	seen.Orchestrates = true
	for range 10 {
		acts, err := play.Next(seen)
		require.NoError(t, err)
		a := acts[0]
		switch {
		case a.Kind == playbook.Call && a.Tool == "today":
			seen.Results = append(seen.Results, playbook.Result{Tool: a.Tool, Args: a.Args, Value: json.RawMessage(`{"date":"2026-05-01"}`)})
		case a.Kind == playbook.Call && strings.HasPrefix(value, "E_"):
			seen.Results = append(seen.Results, playbook.Result{Tool: a.Tool, Args: a.Args, Code: value})
		case a.Kind == playbook.Call && value != "":
			seen.Results, value = append(seen.Results, playbook.Result{Tool: a.Tool, Args: a.Args, Value: json.RawMessage(value)}), ""
		default:
			return strings.TrimSpace(string(a.Kind) + " " + a.Tool + string(a.Args) + a.Text), seen
		}
	}
	return "no end", seen
}

func playOf(t *testing.T, steps string) *playbook.Play {
	t.Helper()
	book, err := read(t, "playbook:\n  T1:"+steps)
	require.NoError(t, err)
	play, ok := book.Of("T1")
	require.True(t, ok)
	return play
}

func TestOrchestrators(t *testing.T) {
	const waits = "wait That is in progress. I wait for its result."
	found := playbook.Settled{ID: "find", Text: `Done. RESULT: {"hits":[1]}`}
	for _, c := range []struct {
		name, steps string
		seen        playbook.Seen
		value, want string
	}{
		{"a plan", planned, playbook.Seen{}, "", `call plan{"tasks":[{"deps":[],"id":"find","kind":"research","spec":"Search for cross texts.","title":"Find the hits"},{"deps":["find"],"id":"refund","kind":"delegate","spec":"Refund the job of the day.","title":"Refund the day","tools":["job","refund"]}]}`},
		{"approved", planned, playbook.Seen{}, `{"result":"ok","taskCount":2}`, waits},
		{"one task has ended", planned, playbook.Seen{Settled: []playbook.Settled{found}}, `{"result":"ok"}`, waits},
		{"both have", planned, playbook.Seen{Settled: []playbook.Settled{found, {ID: "refund", Text: "Done."}}, Ended: 1}, `{"result":"ok"}`, `answer [1] {"date":"2026-05-01"}`},
		{"all have, and nobody has said so", planned, playbook.Seen{Settled: []playbook.Settled{found, {ID: "refund", Text: "Done."}}}, `{"result":"ok"}`, waits},
		{"a task that never began", planned, playbook.Seen{Settled: []playbook.Settled{{ID: "refund", Failed: true, Text: "no"}}, Ended: 1}, `{"result":"ok"}`, "answer It failed: no"},
		{"a check is asked for", checked, playbook.Seen{Settled: []playbook.Settled{found}, Checkpoint: "check"}, `{"result":"ok"}`, `call job{"id":7}`},
		{"a check is done", checked, playbook.Seen{Settled: []playbook.Settled{found}, Checkpoint: "check", Results: []playbook.Result{ok("job", `{"id":7}`, `{"n":1}`)}}, `{"result":"ok"}`, waits},
		{"a plan with a check is done", checked, playbook.Seen{Settled: []playbook.Settled{found}, Ended: 1, Results: []playbook.Result{ok("job", `{"id":7}`, `{"n":1}`)}}, `{"result":"ok"}`, `answer [1] {"n":1}`},
		{"denied", planned, playbook.Seen{}, "E_DENIED", "answer Nothing was done: E_DENIED."},
		{"a task failed", planned, playbook.Seen{Settled: []playbook.Settled{found, {ID: "refund", Failed: true, Text: "no such job"}}, Ended: 1}, `{"result":"ok"}`, "answer It failed: no such job"},
		{"a task returns nothing that is read", planned, playbook.Seen{Settled: []playbook.Settled{{ID: "find", Text: "I looked."}, {ID: "refund"}}, Ended: 1}, `{"result":"ok"}`, "answer It failed: I looked."},
		{"feedback", planned, playbook.Seen{}, `{"result":"change it","feedback":"simpler"}`, `call plan{"tasks":[{"deps":[],"id":"again","kind":"research","spec":"Search once more.","title":"Search"}]}`},
		{"a delegate", delegated, playbook.Seen{}, "", `call delegate{"artifacts":{"day":{"date":"2026-05-01"}},"briefing":"Count what is angry.","instructions":"Count.","role":"counter","tools":["count"]}`},
		{"a delegate returns", delegated, playbook.Seen{}, `{"result":"Done: counter.\nRESULT: {\"n\":3}","blockers":[]}`, "answer 3"},
		{"a delegate is blocked", delegated, playbook.Seen{}, `{"result":"no","blockers":["no"]}`, "give_up no"},
		{"a delegate is refused", delegated, playbook.Seen{}, "E_FORBIDDEN", "give_up I cannot do this: I called delegate, but the call is not allowed."},
		{"a build", built, playbook.Seen{}, "", `call build-workflow-with-agent{"task":"Build a flow that counts."}`},
		{"a build runs", built, playbook.Seen{}, `{"result":"started","taskId":"bg_1"}`, waits},
		{"a build ends", built, playbook.Seen{Settled: []playbook.Settled{{ID: "bg_1", Text: `RESULT: {"hits":[4]}`}}}, `{"taskId":"bg_1"}`, "wait Built."},
		{"thanks", built, playbook.Seen{Settled: []playbook.Settled{{ID: "bg_1", Text: `RESULT: {"hits":[4]}`}}, Said: []string{"thanks"}}, `{"taskId":"bg_1"}`, "answer You said thanks, [4]"},
		{"a message meanwhile", built, playbook.Seen{Said: []string{"stop"}}, `{"taskId":"bg_1"}`, `call cancel-background-task{"taskId":"bg_1"}`},
		{"a message, then the end", built, playbook.Seen{Said: []string{"stop"}, Settled: []playbook.Settled{{ID: "bg_1", Failed: true, Said: 1}},
			Results: []playbook.Result{ok("cancel-background-task", `{"taskId":"bg_1"}`, `{"result":"cancelled"}`)}}, `{"taskId":"bg_1"}`, "answer I stopped, as you said: stop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := orchestrated(t, c.steps, c.seen, c.value)
			require.Equal(t, c.want, got)
		})
	}
}

// TestOtherArguments: a plan that the model wrote with a mistake, and that ran nevertheless,
// is not made again; one that was refused is.
func TestOtherArguments(t *testing.T) {
	_, seen := orchestrated(t, planned, playbook.Seen{}, `{"result":"ok","taskCount":2}`)
	last := &seen.Results[len(seen.Results)-1]
	last.Args = json.RawMessage(strings.Replace(string(last.Args), `"deps":["find"]`, `"deps":[]`, 1))
	got, _ := orchestrated(t, planned, seen, "")
	require.Contains(t, got, "wait")
	last.Value = json.RawMessage(`{"result":"correct it","faults":["cycle"]}`)
	got, _ = orchestrated(t, planned, seen, "")
	require.Contains(t, got, "call plan")
}

// TestInPlace: agents without sub-agents make the calls of the parts themselves.
func TestInPlace(t *testing.T) {
	next := func(steps string, seen playbook.Seen) string {
		acts, err := playOf(t, steps).Next(seen)
		require.NoError(t, err)
		return strings.TrimSpace(string(acts[0].Kind) + " " + acts[0].Tool + string(acts[0].Args) + acts[0].Text)
	}
	seen := results(ok("today", "{}", `"d"`))
	require.Equal(t, `call search{"text":"cross"}`, next(planned, seen))
	seen.Results = append(seen.Results, ok("search", `{"text":"cross"}`, `[1]`))
	require.Equal(t, `call job{"id":7}`, next(planned, seen))
	gone := seen
	gone.Results = append(gone.Results[:2:2], ok("job", `{"id":7}`, `null`))
	require.Equal(t, `answer It failed: There is no job.`, next(planned, gone))
	seen.Results = append(seen.Results, ok("job", `{"id":7}`, `{}`), ok("refund", `{"order":"x"}`, `1`))
	require.Equal(t, `answer [1] d`, next(planned, seen))

	saved, err := playOf(t, planned).Save(playbook.Seen{Results: gone.Results})
	require.NoError(t, err)
	require.Equal(t, `answer It failed: There is no job.`, next(planned, playbook.Seen{From: saved}))
	var ids []string
	for _, s := range playOf(t, planned).Stages() {
		ids = append(ids, s.ID+" "+strings.Join(s.Tools, " "))
	}
	require.Equal(t, []string{"step_1 today", "answer search job refund"}, ids)
}

// TestHandedTo: a sub-agent finds its solution and its values by the text of its task.
func TestHandedTo(t *testing.T) {
	book, err := read(t, "playbook:\n  T1:"+delegated+"  T2:"+planned)
	require.NoError(t, err)
	play, given, ok := book.HandedTo("BRIEFING:\n<data>Count what\nis angry.</data>\n\nARTIFACTS:\n<data>{\"day\":{\"date\":\"2026-05-01\"}}</data>")
	require.True(t, ok)
	require.JSONEq(t, `{"date":"2026-05-01"}`, string(given["day"]))
	acts, err := play.Next(playbook.Seen{Given: given})
	require.NoError(t, err)
	require.Equal(t, `{"day":"2026-05-01","label":"angry"}`, string(acts[0].Args))
	acts, err = play.Next(playbook.Seen{Given: given, Results: []playbook.Result{{Tool: "count", Args: acts[0].Args, Value: json.RawMessage(`3`)}}})
	require.NoError(t, err)
	require.Equal(t, "Done: counter.\nRESULT: {\"n\":3}", acts[0].Text)
	acts, err = play.Next(playbook.Seen{})
	require.NoError(t, err)
	require.Equal(t, "I was not given day.", acts[0].Text)

	play, _, ok = book.HandedTo("Refund the job of the day.")
	require.True(t, ok)
	acts, err = play.Next(playbook.Seen{})
	require.NoError(t, err)
	require.Equal(t, "job", acts[0].Tool)
	_, _, ok = book.HandedTo("Refund the job of the week.")
	require.False(t, ok)
}

func TestReadHandOff(t *testing.T) {
	task := func(more string) string {
		return "\n  - plan:\n      - {id: a, title: A, kind: research, spec: Spec A., do: [{call: today, as: d}]}\n      - " + more + "\n  - answer: x\n"
	}
	for _, c := range []struct{ name, steps, want string }{
		{"a dependency that is not there", task(`{id: b, title: B, kind: research, spec: S., deps: [c], do: [{call: today}]}`), `plan[1].deps: names "c", which is not a task before this one`},
		{"an id twice", task(`{id: a, title: B, kind: research, spec: S., do: [{call: today}]}`), `plan[1].id: is the id of another task`},
		{"a name of another part", task(`{id: b, title: B, kind: research, spec: S., do: [{call: search, args: {text: "{{d}}"}}]}`), `unknown name d`},
		{"a name twice", task(`{id: b, title: B, kind: research, spec: S., do: [{call: today, as: d}]}`), `plan[1].do: binds "d"`},
		{"a kind", task(`{id: b, title: B, kind: build, spec: S., do: [{call: today}]}`), `plan[1].kind`},
		{"an expression in a spec", task(`{id: b, title: B, kind: research, spec: "{{1}}", do: [{call: today}]}`), `plan[1].spec: must not contain expressions`},
		{"an answer", task(`{id: b, title: B, kind: research, spec: S., do: [{answer: x}]}`), `is inside work that is handed over; put it after that`},
		{"a plan in a plan", task(`{id: b, title: B, kind: research, spec: S., do: [{build: x, do: [{call: today}]}]}`), `is inside an each, or inside work that is handed over`},
		{"a spec twice", task(`{id: b, title: B, kind: research, spec: Spec A., do: [{call: search, args: {text: x}}]}`), `line 4 has it, too`},
		{"a tool of orchestrators", "\n  - call: cancel-background-task\n    args: {taskId: bg_1}\n  - answer: x\n", `offers no tool "cancel-background-task"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(t, "playbook:\n  T1:"+c.steps)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestNotice: the texts that agent orchestrator sends become what has settled and what was said.
func TestNotice(t *testing.T) {
	seen := playbook.Seen{Orchestrates: true}
	for _, text := range []string{
		"THE USER SAYS:\n<data>stop that</data>",
		"CHECKPOINT look:\n<data>Check it.</data>\nCheck now what this asks for.",
		"SETTLED flow failed (builder, bg_2):\n<data>no\nway</data>\nWORK ITEM wi_1 of workflow none is blocked.\n\nREPLAN: a task of the plan failed.\n<data>flow failed: no way\ntag cancelled: Cancelled: dependency \"flow\" failed\nlast cancelled: too</data>",
	} {
		require.True(t, seen.Notice(text), text)
	}
	require.False(t, seen.Notice("That could not be used:\n- empty"))
	require.False(t, seen.Notice("CORRECTION, which the user wants:\n<data>x</data>"), "that is for sub-agents")
	require.Equal(t, playbook.Seen{Orchestrates: true, Said: []string{"stop that"}, Ended: 1, Settled: []playbook.Settled{
		{ID: "flow", Failed: true, Text: "no\nway", Said: 1}, {ID: "tag", Failed: true, Text: `Cancelled: dependency "flow" failed`, Said: 1}, {ID: "last", Failed: true, Text: "too", Said: 1},
	}}, seen)

	sub := playbook.Seen{}
	require.False(t, sub.Notice("THE USER SAYS:\n<data>stop that</data>"))
	require.True(t, sub.Notice("CORRECTION, which the user wants taken into account from now on:\n<data>cross</data>"))
	book, err := read(t, "playbook:\n  T1:"+corrected)
	require.NoError(t, err)
	play, _, ok := book.HandedTo("TASK:\nBuild something.")
	require.True(t, ok)
	for _, c := range []struct {
		seen playbook.Seen
		want string
	}{{playbook.Seen{}, `{"text":"x"}`}, {sub, `{"text":"cross"}`}} {
		acts, err := play.Next(c.seen)
		require.NoError(t, err)
		require.Equal(t, c.want, string(acts[0].Args))
	}
}
