package playbook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/playbook"
)

func results(list ...playbook.Result) playbook.Seen { return playbook.Seen{Results: list} }

func TestNext(t *testing.T) {
	const job = `{"id":7}`
	poll := `
  - call: job
    args: {id: 7}
    as: j
    until: j.status != "running"
  - answer: It is {{j.status}}.
`
	twice := `
  - call: job
    args: {id: 7}
    as: a
  - call: job
    args: {id: 7}
    as: b
  - answer: "{{a}} then {{b}}"
`
	rescued := `
  - call: search
    args: {text: x}
    as: hits
    retry: 1
    on_error:
      - if: error == "E_GONE"
        then:
          - give_up: It is gone.
      - let: {hits: "['none']"}
  - answer: "{{hits[0]}}"
`
	asks := `
  - ask: Which label?
    as: label
  - ask: On which day?
    as: day
  - call: count
    args: {day: "{{trim(day)}}", label: "{{label}}"}
    as: n
  - answer: "{{n}} {{label}}"
`
	chains := `
  - each: [a, b]
    as: name
    do:
      - call: search
        args: {text: "{{name}}"}
        as: id
      - if: id != nil
        then:
          - call: job
            args: {id: "{{id}}"}
            as: state
  - answer: "{{join(map(state, # ?? 'none'), ', ')}}"
`
	for _, c := range []struct {
		name, steps string
		seen        playbook.Seen
		want        string
	}{
		{"a poll asks again", poll, results(ok("job", job, `{"status":"running"}`)), `call job{"id":7}`},
		{"a poll ends", poll, results(ok("job", job, `{"status":"running"}`), ok("job", job, `{"status":"done"}`)), `answer It is done.`},
		{"a poll gives up at the fifth", poll, results(ok("job", job, `{"status":"running"}`), ok("job", job, `{"status":"running"}`), ok("job", job, `{"status":"running"}`), ok("job", job, `{"status":"running"}`), ok("job", job, `{"status":"running"}`)), `answer It is running.`},
		{"a failure amid a poll", poll, results(ok("job", job, `{"status":"running"}`), failed("job", job, "E_UPSTREAM"), ok("job", job, `{"status":"done"}`)), `answer It is done.`},
		{"equal calls each need a result", twice, results(ok("job", job, `1`)), `call job{"id":7}`},
		{"equal calls take results in order", twice, results(ok("job", job, `1`), ok("job", `{ "id": 7.0 }`, `2`)), `answer 1 then 2`},
		{"a failed call is repeated", twice, results(failed("job", job, "E_UPSTREAM"), failed("job", job, "E_TIMEOUT")), `call job{"id":7}`},
		{"and counts for itself", twice, results(failed("job", job, "E_HTTP_503"), failed("job", job, "E_RATE"), ok("job", job, "1"), failed("job", job, "E_TIMEOUT")), `call job{"id":7}`},
		{"until it has failed three times", twice, results(failed("job", job, "E_UPSTREAM"), failed("job", job, "E_UPSTREAM"), failed("job", job, "E_UPSTREAM")), `give_up I cannot do this: I called job, but it failed with E_UPSTREAM (down). (E_UPSTREAM)`},
		{"a refused call is not repeated", twice, results(failed("job", job, "E_DENIED")), `give_up I cannot do this: I called job, but the call was not approved. (E_DENIED)`},
		{"nor one that the world refuses", twice, results(failed("job", job, "E_CLOSED")), `give_up I cannot do this: I called job, but it failed with E_CLOSED (down). (E_CLOSED)`},
		{"nor one beyond the budget", twice, results(ok("job", job, "1"), failed("job", job, "E_BUDGET")), `give_up I cannot do this: I called job, but no tool calls are left. (E_BUDGET)`},
		{"on_error after the retries", rescued, results(failed("search", `{"text":"x"}`, "E_A")), `call search{"text":"x"}`},
		{"on_error goes on", rescued, results(failed("search", `{"text":"x"}`, "E_A"), failed("search", `{"text":"x"}`, "E_B")), `answer none`},
		{"on_error ends", rescued, results(failed("search", `{"text":"x"}`, "E_A"), failed("search", `{"text":"x"}`, "E_GONE")), `give_up It is gone.`},
		{"on_error is not needed", rescued, results(failed("search", `{"text":"x"}`, "E_A"), ok("search", `{"text":"x"}`, `["y"]`)), `answer y`},
		{"a question", asks, playbook.Seen{}, `ask Which label?`},
		{"another question", asks, playbook.Seen{Replies: []string{"angry"}}, `ask On which day?`},
		{"replies in order", asks, playbook.Seen{Replies: []string{"angry", " 2026-01-01 "}}, `call count{"day":"2026-01-01","label":"angry"}`},
		{"more replies than questions", asks, playbook.Seen{Replies: []string{"angry", "d", "never mind"}, Results: []playbook.Result{ok("count", `{"day":"d","label":"angry"}`, "3")}}, `answer 3 angry`},
		{"iterations go on alone", chains, results(ok("search", `{"text":"b"}`, "5")), "call search{\"text\":\"a\"}\ncall job{\"id\":5}"},
		{"a branch not taken binds null", chains, results(ok("search", `{"text":"b"}`, "5"), ok("search", `{"text":"a"}`, "null"), ok("job", `{"id":5}`, `"on"`)), "answer none, on"},
		{"one iteration that fails ends all", chains, results(failed("search", `{"text":"b"}`, "E_FORBIDDEN")), `give_up I cannot do this: I called search, but the call is not allowed. (E_FORBIDDEN)`},
		{"a result of another shape", chains, results(ok("search", `{"text":"a"}`, `"x"`), ok("search", `{"text":"b"}`, "null")), `call job{"id":"x"}`},
		{"an empty fan-out", "\n  - each: \"[]\"\n    as: x\n    do: [{call: today, as: d}]\n  - answer: \"{{len(d)}} days\"\n", playbook.Seen{}, `answer 0 days`},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, said(t, play(t, c.steps), c.seen)) })
	}
}

func TestErrorOfNextNamesTheStep(t *testing.T) {
	for steps, want := range map[string]string{
		"\n  - call: today\n    as: d\n  - answer: \"{{d.date.day}}\"\n":                                            "suite/playbook.yaml:6: ",
		"\n  - call: today\n    as: d\n  - each: d.date\n    as: x\n    do: [{call: today}]\n  - give_up: \"no\"\n": "suite/playbook.yaml:6: each needs a list of at most 1000 items",
		"\n  - call: today\n    as: d\n  - if: d.date\n    then: [{answer: x}]\n    else: [{answer: y}]\n":          "suite/playbook.yaml:6: a condition must be true or false, but is a string",
		"\n  - call: today\n    as: d\n  - answer: \"{{d.none}}\"\n":                                                "suite/playbook.yaml:6: the text is null",
	} {
		_, err := play(t, steps).Next(results(ok("today", "{}", `{"date":"2026-01-01"}`)))
		require.ErrorContains(t, err, want)
	}
	_, err := play(t, week).Next(playbook.Seen{From: json.RawMessage(`[1]`)})
	require.ErrorContains(t, err, "is not what Save wrote")
}

func TestBatch(t *testing.T) {
	task := playbook.Task{ID: "T1", Request: "How tall is {name} of {item}?", Inputs: []string{"lights", "unit"}, Each: "lights"}
	const steps = `
  - call: search
    args: {text: "{{item.name}}"}
    as: h
  - if: h == nil
    then: [{give_up: "No {{item.name}}."}]
  - answer: "{{h}} {{unit}}"
    value: {h: "{{h}}"}
`
	p := play(t, steps, task)
	unit := json.RawMessage(`"m"`)
	one := playbook.Seen{Given: map[string]json.RawMessage{"item": json.RawMessage(`{"name":"A"}`), "unit": unit}, Results: []playbook.Result{ok("search", `{"text":"A"}`, "4")}}
	require.Equal(t, `answer 4 m = {"h":4}`, said(t, p, one))
	all := playbook.Seen{Given: map[string]json.RawMessage{"lights": json.RawMessage(`[{"name":"A"},{"name":"B"}]`), "unit": unit}}
	require.Equal(t, "call search{\"text\":\"A\"}\ncall search{\"text\":\"B\"}", said(t, p, all))
	all.Results = []playbook.Result{ok("search", `{"text":"B"}`, "null"), ok("search", `{"text":"A"}`, "4")}
	require.Equal(t, "answer 4 m\nNo B. = [{\"h\":4},{\"error\":\"No B.\"}]", said(t, p, all))
	delete(all.Given, "unit")
	require.Equal(t, "give_up I was not given unit.", said(t, p, all))

	book, err := read(t, "playbook:\n  T1:"+steps, task)
	require.NoError(t, err)
	for request, found := range map[string]bool{
		"How tall is {name} of {item}?": true, "How tall is  Alder\nPoint of {\"name\":1}?": true, "How tall is it?": false, "And how tall is A of B?": false,
	} {
		_, ok := book.Find(request, nil)
		require.Equal(t, found, ok, request)
	}
}

// world answers calls of the test tools; seen counts the calls of each tool.
func world(c playbook.Action, seen map[string]int) playbook.Result {
	key := c.Tool + string(c.Args)
	seen[key]++
	value := fmt.Sprintf(`{"value":%d,"date":"2026-02-28","status":%q}`, len(key)+seen[key], []string{"running", "done"}[seen[key]/2])
	return ok(c.Tool, string(c.Args), value)
}

// drive follows a solution to its end and returns its actions. With save, it continues from the
// saved state at every turn, with only the later results.
func drive(t testing.TB, next func(playbook.Seen) ([]playbook.Action, error), s playbook.Seen, save func(playbook.Seen) (json.RawMessage, error)) string {
	t.Helper()
	var out []string
	calls := map[string]int{}
	for range 30 {
		actions, err := next(s)
		require.NoError(t, err)
		if save != nil {
			s.From, err = save(s)
			require.NoError(t, err)
			s.Results = nil
		}
		for _, a := range actions {
			out = append(out, fmt.Sprintf("%s %s%s%s%s", a.Kind, a.Tool, a.Args, a.Text, a.Value))
			switch a.Kind {
			case playbook.Call:
				s.Results = append(s.Results, world(a, calls))
			case playbook.Ask:
				s.Replies = append(s.Replies, "praise")
			default:
				return strings.Join(out, "\n")
			}
		}
	}
	require.Fail(t, "the solution does not end")
	return ""
}

// solutions have every kind of step.
var solutions = map[string]string{
	"week": week,
	"mixed": `
  - ask: Which?
    as: which
  - call: today
    as: day
  - let: {later: "addDays(day.date, 2)"}
  - each: [1, 2, 3]
    as: i
    do:
      - call: job
        args: {id: "{{i}}"}
        until: j.status == "done"
        as: j
      - call: search
        args: {text: "{{which}} {{j.value}}"}
        as: hit
  - let: {sum: "sum(map(hit, #.value))"}
  - if: sum > 3
    then:
      - call: search
        args: {text: "{{sum}} {{later}}"}
        as: last
      - let: {end: "last.value"}
  - answer: "{{which}} {{end}} {{sum}}"
`,
}

func TestSaveContinues(t *testing.T) {
	for name, steps := range solutions {
		p := play(t, steps)
		require.Equal(t, drive(t, p.Next, playbook.Seen{}, nil), drive(t, p.Next, playbook.Seen{}, p.Save), name)
	}
}

func TestSaveKeepsOnlyWhatIsNeeded(t *testing.T) {
	p := play(t, week)
	s := results(ok("today", "{}", `{"date":"2026-02-28","zone":"UTC"}`), ok("count", `{"day":"2026-03-01","label":"praise"}`, `{"value":7}`))
	saved, err := p.Save(s)
	require.NoError(t, err)
	require.JSONEq(t, `{"at":2,"env":{"labels":["angry","praise"],"next":"2026-03-01"},"sub":[{},{"at":1,"env":{"n":{"value":7}}}]}`, string(saved))
	saved, err = p.Save(results(s.Results[0], s.Results[1], ok("count", `{"day":"2026-03-01","label":"angry"}`, `{"value":1}`)))
	require.NoError(t, err)
	require.JSONEq(t, `{"at":3,"env":{"n":[{"value":1},{"value":7}]},"sub":[{}]}`, string(saved))
}

// Save stores only the fields that are read, because the space in a prompt is limited.
func TestSaveKeepsOnlyTheFieldsThatAreRead(t *testing.T) {
	p := play(t, `
  - call: search
    args: {text: x}
    as: found
  - each: found.results
    as: r
    do:
      - call: count
        args: {day: "{{r.id}}", label: angry}
        as: n
      - let: {row: "{'id': r.id, 'value': n.value}"}
  - answer: "{{row[0].id}}: {{sum(n, .value)}}"
`)
	s := results(ok("search", `{"text":"x"}`, `{"total":2,"results":[{"id":"a","title":"A"},{"id":"b","title":"B"}]}`), ok("count", `{"day":"a","label":"angry"}`, `{"value":7,"label":"angry"}`))
	saved, err := p.Save(s)
	require.NoError(t, err)
	require.JSONEq(t, `{"at":1,"env":{"found":{"results":[{"id":"a"},{"id":"b"}]}},"sub":[{"at":2,"env":{"n":{"value":7},"row":{"id":"a"}}},{}]}`, string(saved))
	outputs, err := p.Stages()[0].Play.Next(results(s.Results[0]))
	require.NoError(t, err)
	require.JSONEq(t, `[{"id":"a"},{"id":"b"}]`, string(outputs[0].Value), "a stage outputs no more, either")
}

// The stages give the answer of the solution, each with the outputs of the stages before it.
func TestStagesGiveTheSameAnswer(t *testing.T) {
	task := playbook.Task{ID: "T1", Request: "r", Inputs: []string{"which"}, Writes: []string{"refund"}}
	steps := strings.Replace(solutions["mixed"], "  - ask: Which?\n    as: which\n", "  - call: refund\n    args: {order: \"{{which}}\"}\n", 1)
	p := play(t, steps, task)
	given := map[string]json.RawMessage{"which": json.RawMessage(`"angry"`)}
	whole := drive(t, p.Next, playbook.Seen{Given: given}, nil)
	outputs := map[string]map[string]json.RawMessage{}
	var ids, did []string
	for _, st := range p.Stages() {
		ids = append(ids, fmt.Sprint(st.ID, st.After, st.Inputs, st.Tools))
		s := playbook.Seen{Given: map[string]json.RawMessage{}}
		for _, in := range st.Inputs {
			s.Given[in] = given[in]
		}
		for _, before := range st.After {
			for name, v := range outputs[before] {
				s.Given[name] = v
			}
		}
		text := drive(t, st.Play.Next, s, st.Play.Save)
		at := strings.LastIndex(text, "output ")
		if at < 0 {
			did = append(did, text)
			continue
		}
		did = append(did, strings.TrimSpace(text[:at]))
		var names map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(text[at+len("output "):]), &names))
		outputs[st.ID] = names
	}
	require.Equal(t, []string{
		"step_1[] [which] [refund]", "step_2[step_1] [] [today]", "step_3[step_1] [which] [job search]", "step_4[step_1 step_2 step_3] [] [search]", "answer[step_1 step_3 step_4] [which] []",
	}, ids)
	require.Equal(t, strings.Count(whole, "\n"), strings.Count(strings.Join(did, "\n"), "\n"))
	require.Contains(t, p.Stages()[4].Play.ID(), "T1")
}

// An each over an input, or over the list of another stage, is a stage for one item.
func TestStagesOfEach(t *testing.T) {
	const search = "\n  - call: search\n    args: {text: x}\n    as: found\n"
	const do = "    as: r\n    do:\n      - call: count\n        args: {day: \"{{r}}\", label: angry}\n        as: n\n"
	for name, c := range map[string]struct{ steps, want string }{
		"of a result":         {search + "  - each: found.days\n" + do + "  - answer: \"{{n}}\"\n", "[step_1 list] [step_2 each step_1] [answer]"},
		"of an input":         {"\n  - each: days\n" + do + "  - answer: \"{{n}}\"\n", "[step_1 each days] [answer]"},
		"read besides":        {search + "  - each: found.days\n" + do + "  - answer: \"{{n}} {{found.total}}\"\n", "[step_1] [step_2] [answer]"},
		"read between":        {search + "  - call: search\n    args: {text: \"{{found.days[0]}}\"}\n  - each: found.days\n" + do + "  - answer: \"{{n}}\"\n", "[step_1] [step_2] [step_3] [answer]"},
		"read inside":         {search + "  - each: found.days\n" + strings.Replace(do, "{{r}}", "{{r + found.day}}", 1) + "  - answer: \"{{n}}\"\n", "[step_1] [step_2] [answer]"},
		"of constants":        {"\n  - each: [a, b]\n" + do + "  - answer: \"{{n}}\"\n", "[step_1] [answer]"},
		"of what an each has": {search + "  - each: found.days\n" + do + "  - each: n\n    as: m\n    do: [{call: search, args: {text: \"{{m.value}}\"}}]\n  - answer: x\n", "[step_1 list] [step_2 each step_1] [step_3] [answer]"},
	} {
		p := play(t, c.steps, playbook.Task{ID: "T1", Request: "r", Inputs: []string{"days"}})
		var got []string
		for _, st := range p.Stages() {
			got = append(got, strings.Join(strings.Fields(fmt.Sprint(st.ID, map[bool]string{true: " list"}[st.List], map[bool]string{true: " each "}[st.Each != ""], st.Each)), " "))
		}
		require.Equal(t, c.want, "["+strings.Join(got, "] [")+"]", name)
	}
	p := play(t, search+"  - each: found.days\n"+do+"  - answer: \"{{n[0].value}} {{sum(n, .value)}}\"\n")
	stages := p.Stages()
	require.Equal(t, "Call search and hand on what it returns as a list.", stages[0].Text)
	require.Equal(t, "Call count for {item} and hand on what it returns as n.", stages[1].Text)
	require.Equal(t, `output  = ["d1","d2"]`, said(t, stages[0].Play, results(ok("search", `{"text":"x"}`, `{"days":["d1","d2"]}`))))
	one := results(ok("count", `{"day":"d1","label":"angry"}`, `{"value":3,"of":"d1"}`))
	one.Given = map[string]json.RawMessage{"item": json.RawMessage(`"d1"`)}
	require.Equal(t, `output  = {"n":{"value":3}}`, said(t, stages[1].Play, one))
	require.Equal(t, `{"n":[{"value":3},{"value":4}]}`, string(playbook.Collect(json.RawMessage(`[{"n":{"value":3}},{"n":{"value":4}}]`))))
	require.Equal(t, `{"give_up":"no"}`, string(playbook.Collect(json.RawMessage(`[{"n":1},{"give_up":"no"}]`))))
	require.Equal(t, `{"a":1}`, string(playbook.Collect(json.RawMessage(`{"a":1}`))))
	require.Contains(t, said(t, stages[2].Play, playbook.Seen{}), "error: suite/playbook.yaml", "without any item there is no first")
}

func TestStages(t *testing.T) {
	stages := func(steps string, task playbook.Task) (out []string) {
		task.ID, task.Request = "T1", "r"
		for _, st := range play(t, steps, task).Stages() {
			out = append(out, fmt.Sprint(st.ID, st.After, st.Tools, " ", st.Text))
		}
		return out
	}
	require.Equal(t, []string{
		"step_1[] [today] Call today and hand on what it returns as day.",
		"step_2[step_1] [count] Call count and hand on what it returns as n.",
		"answer[step_2] [] Answer the objective from the results.",
	}, stages(week, playbook.Task{}))
	require.Equal(t, []string{"answer[] [count] Call count as needed, and answer the objective."}, stages(`
  - ask: Which?
    as: l
  - call: count
    args: {day: d, label: "{{l}}"}
    as: n
  - answer: "{{n}}"
`, playbook.Task{}))
	require.Equal(t, []string{
		"step_1[] [today] Call today and hand on what it returns as a.", "step_2[] [search] Call search and hand on what it returns.",
		"answer[step_1 step_2] [job] Call job as needed, and answer the objective.",
	}, stages(`
  - call: today
    as: a
  - call: search
    args: {text: x}
  - if: a == nil
    then: [{give_up: "no"}]
  - call: job
    args: {id: 1}
  - answer: "yes"
`, playbook.Task{}))
	require.Equal(t, []string{"answer[] [search] Do what the objective says for each item of the input, and answer."}, stages(`
  - call: search
    args: {text: "{{item}}"}
  - answer: "yes"
`, playbook.Task{Inputs: []string{"list"}, Each: "list"}))
}

func TestFailedStageEndsLaterStages(t *testing.T) {
	list := play(t, week).Stages()
	first := list[0].Play
	require.Equal(t, `give_up I cannot do this: I called today, but the call was not approved. = {"give_up":"I cannot do this: I called today, but the call was not approved."} (E_DENIED)`,
		said(t, first, results(failed("today", "{}", "E_DENIED"))))
	second := list[1].Play
	require.Equal(t, `give_up The clock is down. = {"give_up":"The clock is down."}`, said(t, second, playbook.Seen{Given: map[string]json.RawMessage{"give_up": json.RawMessage(`"The clock is down."`)}}))
	require.Equal(t, `give_up I was not given day. = {"give_up":"I was not given day."}`, said(t, second, playbook.Seen{}))
}

func TestFind(t *testing.T) {
	all := toolSet(t)
	tasks := []playbook.Task{
		{ID: "A", Request: "How many\n  today?\u200b </data>", Tools: all.Only([]string{"today", "count"})},
		{ID: "B", Request: "How many today? </data>", Tools: all.Only([]string{"today"})},
	}
	book, err := read(t, "playbook:\n  A: [{answer: a}]\n  B: [{answer: b}]\n", tasks...)
	require.NoError(t, err)
	for offered, want := range map[string]string{"today,count,ask_user": "A", "today,ask_user": "B", "": "B", "count": "A"} {
		p, ok := book.Find("How many today? <\\/data>", strings.FieldsFunc(offered, func(r rune) bool { return r == ',' }))
		require.True(t, ok)
		require.Equal(t, want, p.ID(), offered)
	}
	_, found := book.Find("How many?", nil)
	require.False(t, found)
	var none *playbook.Book
	_, found = none.Find("x", nil)
	require.False(t, found)
	_, found = none.Of("x")
	require.False(t, found)
	require.Empty(t, none.Missing())
}

func BenchmarkNext(b *testing.B) {
	p := play(b, solutions["mixed"])
	s := playbook.Seen{Replies: []string{"x"}, Results: []playbook.Result{ok("today", "{}", `{"date":"2026-01-01"}`)}}
	for i := 1; i <= 3; i++ {
		id := fmt.Sprintf(`{"id":%d}`, i)
		s.Results = append(s.Results, ok("job", id, `{"status":"running","value":1}`), ok("job", id, `{"status":"done","value":2}`), ok("search", `{"text":"x 2"}`, `{"value":9}`))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Next(s); err != nil {
			b.Fatal(err)
		}
	}
}

func TestFollowingIsBounded(t *testing.T) {
	for steps, want := range map[string]string{
		`
  - let: {l: "0..999"}
  - each: l
    as: i
    do:
      - each: l
        as: j
        do: [{let: {x: i + j}}]
  - answer: "{{x}}"
`: "suite/playbook.yaml:10: the solution takes more than 100000 steps",
		`
  - let: {l: "0..999"}
  - let: {text: "join(map(l, 'x'), '01234567890123456789')"}
  - each: l
    as: i
    do: [{let: {x: "text"}}]
  - answer: "{{x}}"
`: "too large",
	} {
		began := time.Now()
		_, err := play(t, steps).Next(playbook.Seen{})
		require.ErrorContains(t, err, want)
		require.Less(t, time.Since(began), 10*time.Second)
	}
}
