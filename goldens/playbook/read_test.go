package playbook_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/playbook"
)

func TestReadNamesEveryProblem(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", ``, `suite/playbook.yaml:1: the file is empty`},
		{"another key", "plays: {}\n", "suite/playbook.yaml:1: plays: unknown field; allowed: playbook, equivalent, judges\nsuite/playbook.yaml:1: playbook: is missing"},
		{"unknown task", "playbook:\n  T3: [{answer: x}]\n", `suite/playbook.yaml:2: playbook.T3: the suite has no task "T3" that takes a solution (did you mean T1?)`},
		{"twice", "playbook:\n  T1: [{answer: x}]\n  T1, T2: [{answer: x}]\n", `suite/playbook.yaml:3: playbook.T1, T2: task T1 has a solution already, on line 2`},
		{"no steps", "playbook:\n  T1: []\n", `suite/playbook.yaml:2: playbook.T1: needs at least one step`},
		{"not steps", "playbook:\n  T1: answer\n", `suite/playbook.yaml:2: playbook.T1: must be a list, but is a string`},
		{"no kind", "playbook:\n  T1:\n    - tool: x\n", `suite/playbook.yaml:3: playbook.T1[0]: does not say what to do; a step has one of: call, each, if, let, ask, answer, give_up, plan, delegate, build, reply`},
		{"unknown field", "playbook:\n  T1:\n    - answer: x\n      values: 3\n", `suite/playbook.yaml:4: playbook.T1[0].values: unknown field (did you mean value?); allowed: answer, value`},
		{"two kinds", "playbook:\n  T1:\n    - answer: x\n      ask: y\n", `suite/playbook.yaml:3: playbook.T1[0]: has more than one action: answer, ask; make each a separate step`},
		{"no end", "playbook:\n  T1:\n    - call: today\n", `suite/playbook.yaml:2: playbook.T1: the solution of T1 does not end: its last step must be answer or give_up, in both branches of an if`},
		{"one branch ends", "playbook:\n  T1:\n    - if: \"true\"\n      then: [{answer: x}]\n", `suite/playbook.yaml:2: playbook.T1: the solution of T1 does not end: its last step must be answer or give_up, in both branches of an if`},
		{"after the end", "playbook:\n  T1:\n    - answer: x\n    - call: today\n", `suite/playbook.yaml:4: playbook.T1[1]: is never reached: the step before always ends the solution`},
		{"unknown tool", "playbook:\n  T1:\n    - call: cuont\n    - answer: x\n", `suite/playbook.yaml:3: playbook.T1[0].call: task T1 offers no tool "cuont" (did you mean count?); it offers: count, job, refund, search, today`},
		{"literal arguments", "playbook:\n  T1:\n    - call: count\n      args: {day: 2026-05-01, label: cross, x: 1}\n    - answer: x\n", `suite/playbook.yaml:4: playbook.T1[0].args: do not fit the schema of count: args.label:enum, args.x:additional`},
		{"absent arguments", "playbook:\n  T1:\n    - call: count\n    - answer: x\n", `suite/playbook.yaml:3: playbook.T1[0].args: do not fit the schema of count: args.day:required, args.label:required`},
		{"some computed", "playbook:\n  T1:\n    - call: count\n      args: {day: \"{{1 + 1}}\", lable: \"{{'angry'}}\"}\n    - answer: x\n", `suite/playbook.yaml:4: playbook.T1[0].args: do not fit the schema of count: args.label:required, args.lable:additional`},
		{"unknown name", "playbook:\n  T1:\n    - call: today\n      as: day\n    - answer: |\n        It is\n        {{dya.date}}.\n", `suite/playbook.yaml:7:11: playbook.T1[1].answer: unknown name dya (did you mean day?); known: day, and the functions of the language`},
		{"a name of a branch", "playbook:\n  T1:\n    - if: \"true\"\n      then: [{call: today, as: a}]\n      else: [{let: {b: \"a\"}}]\n    - answer: x\n", `unknown name a`},
		{"the item afterwards", "playbook:\n  T1:\n    - each: [1]\n      as: i\n      do: [{call: today}]\n    - answer: \"{{i}}\"\n", `unknown name i`},
		{"a name twice", "playbook:\n  T1:\n    - call: today\n      as: a\n    - let: {a: \"1\"}\n    - answer: x\n", `suite/playbook.yaml:5: playbook.T1[1].let.a: "a" is the name of something else already; use another name`},
		{"reserved names", "playbook:\n  T1:\n    - let: {count: \"1\", in: \"2\", error: \"3\", a-b: \"4\"}\n    - answer: x\n", `suite/playbook.yaml:3: playbook.T1[0].let.in: "in" is a word of the language; use another name`},
		{"not a list", "playbook:\n  T1:\n    - each: {a: 1}\n      as: i\n      do: [{call: today}]\n    - answer: x\n", `suite/playbook.yaml:3: playbook.T1[0].each: must be a list, or an expression that gives one, but is a mapping`},
		{"an answer in an each", "playbook:\n  T1:\n    - each: [1]\n      as: i\n      do: [{answer: x}]\n    - answer: x\n", `suite/playbook.yaml:5: playbook.T1[0].do[0].answer: is inside an each, whose iterations run in parallel; put it after the each`},
		{"a number", "playbook:\n  T1:\n    - answer: 5\n", `suite/playbook.yaml:3: playbook.T1[0].answer: must be a string, but is a number: put 5 in quotes`},
		{"braces without quotes", "playbook:\n  T1:\n    - call: today\n      as: a\n    - answer: {{a}}\n", "put a text that begins with a brace in quotes"},
		{"a flow of text", "playbook:\n  T1:\n    - answer: \"{{1\"\n", `suite/playbook.yaml:3:16: playbook.T1[0].answer: the expression that {{ begins does not end; add }}`},
		{"retry", "playbook:\n  T1:\n    - call: today\n      retry: 9\n    - answer: x\n", `suite/playbook.yaml:4: playbook.T1[0].retry: must be from 0 to 5, but is 9`},
		{"all at once", "playbook:\n  T1:\n    - call: x\n    - answer: \"{{y}}\"\n  T2:\n    - ask: 3\n", "suite/playbook.yaml:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			book, err := read(t, c.text)
			require.Nil(t, book)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestReadNestedTooDeep(t *testing.T) {
	text := "playbook:\n  T1:\n"
	for i := range 10 {
		text += strings.Repeat("  ", 2+2*i) + "- if: \"true\"\n" + strings.Repeat("  ", 3+2*i) + "then:\n"
	}
	_, err := read(t, text+strings.Repeat("  ", 24)+"- answer: x\n")
	require.ErrorContains(t, err, "steps are nested deeper than 8 levels")
	_, err = read(t, "playbook:\n  T1:\n"+strings.Repeat("    - call: today\n", 501)+"    - answer: x\n")
	require.ErrorContains(t, err, "has more than 500 steps")
}

func TestReadWithoutAPlaybook(t *testing.T) {
	book, err := playbook.Read(fstest.MapFS{}, "suite", nil)
	require.NoError(t, err)
	require.Nil(t, book)
	_, err = playbook.Read(fstest.MapFS{"playbook.yaml/x": {}}, "suite", nil)
	require.ErrorContains(t, err, "suite/playbook.yaml:1: cannot read the file")
}

func TestTasksWithEqualPromptsNeedOneSolution(t *testing.T) {
	all := toolSet(t)
	tasks := func() []playbook.Task {
		return []playbook.Task{{ID: "T1", Request: "How many?"}, {ID: "T2", Request: "How  many?"}, {ID: "T3", Request: "How many?", Tools: all.Only([]string{"today"})}, {ID: "T4", Request: "Else?"}}
	}
	_, err := read(t, "playbook:\n  T1: [{answer: a}]\n  T2: [{answer: b}]\n  T3: [{answer: c}]\n", tasks()...)
	require.EqualError(t, err, `suite/playbook.yaml:3: playbook.T2: task T2 has the request and tools of task T1, on line 2, but another solution: a prompt cannot tell them apart; give both the same, such as "T1, T2:"`)
	book, err := read(t, "playbook:\n  T1, T2: [{answer: a}]\n  T3: [{answer: c}]\n", tasks()...)
	require.NoError(t, err)
	require.Equal(t, []string{"T4"}, book.Missing())
	book, err = read(t, "playbook:\n  T2: [{answer: a}]\n", tasks()...)
	require.NoError(t, err)
	require.Equal(t, []string{"T3", "T4"}, book.Missing(), "T1 is solved by the solution of T2")
}

func TestAnswerWithASchemaNeedsAValue(t *testing.T) {
	_, err := read(t, "playbook:\n  T1: [{answer: a}]\n", playbook.Task{ID: "T1", Request: "r", Schema: true})
	require.EqualError(t, err, "suite/playbook.yaml:2: playbook.T1[0].value: is missing: the answer of task T1 must fit its answer_schema")
}

func TestSharedSolutionsHaveTheSameInputs(t *testing.T) {
	_, err := read(t, "playbook:\n  T1, T2: [{answer: \"{{n}}\"}]\n", playbook.Task{ID: "T1", Request: "r", Inputs: []string{"n"}}, playbook.Task{ID: "T2", Request: "s"})
	require.ErrorContains(t, err, "suite/playbook.yaml:2: playbook.T1, T2: tasks T1 and T2 take different inputs, so they cannot share a solution")
}

// FuzzRead checks that every playbook that Read accepts can be followed, saved and split.
func FuzzRead(f *testing.F) {
	for _, steps := range solutions {
		f.Add("playbook:\n  T1:\n"+steps, `{"date":"2026-01-01","value":1,"status":"done"}`, `{"at":1}`)
	}
	f.Add("playbook:\n  T1: &a [{each: item, as: x, do: [{call: today, on_error: [{give_up: x}]}]}, {answer: x}]\n", "[]", `{"at":-1,"sub":[null,{"at":9,"code":"E"}]}`)
	f.Fuzz(func(t *testing.T, text, value, from string) {
		book, err := read(t, text)
		if err != nil {
			require.Nil(t, book)
			return
		}
		for _, p := range book.Plays() {
			for _, st := range append(p.Stages(), playbook.Stage{Play: p}) {
				s := playbook.Seen{Replies: []string{"x"}}
				if from != "" {
					s.From = []byte(from)
				}
				for range 5 {
					actions, err := st.Play.Next(s)
					if err != nil {
						break
					}
					require.NotEmpty(t, actions)
					for _, a := range actions {
						if a.Kind == playbook.Call {
							s.Results = append(s.Results, ok(a.Tool, string(a.Args), value))
						}
					}
					if saved, err := st.Play.Save(s); err == nil {
						require.NotEmpty(t, saved)
					}
				}
			}
		}
	})
}

// The time of Read grows linearly with the number of tasks.
func TestReadIsQuickForManyTasks(t *testing.T) {
	set := toolSet(t)
	var tasks []playbook.Task
	var text strings.Builder
	text.WriteString("playbook:\n")
	for i := range 10_000 {
		id := "T" + strconv.Itoa(i)
		tasks = append(tasks, playbook.Task{ID: id, Request: "Request " + id, Tools: set})
		if i%2 == 0 {
			text.WriteString("  " + id + ": [{answer: x}]\n")
		}
	}
	began := time.Now()
	book, err := read(t, text.String(), tasks...)
	require.NoError(t, err)
	require.Len(t, book.Missing(), 5_000)
	require.Less(t, time.Since(began), 10*time.Second)
}
