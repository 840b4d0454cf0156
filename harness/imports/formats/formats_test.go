package formats

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// found is what files contain.
type found struct {
	imports.Result
	episodes []imports.Episode
}

// put writes a file to import.
func put(t testing.TB, name, text string) imports.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return imports.File{Path: path, Source: manifest.SourceFile{Name: name}}
}

func read(t testing.TB, f imports.Format, o imports.Options, files ...imports.File) (c found, err error) {
	t.Helper()
	c.Result, err = f.Read(context.Background(), files, o, func(e *imports.Episode) error {
		c.episodes = append(c.episodes, *e)
		return nil
	})
	return c, err
}

const (
	tauGood  = `{"task_id":7,"trial":1,"reward":1.0,"traj":[{"role":"system","content":"P"},{"role":"user","content":"Hi"},{"role":"assistant","content":"Which?"},{"role":"user","content":"A"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c","name":"f","content":"1"},{"role":"assistant","content":"Done"}],"info":{"task":{"user_id":"u"},"user_cost":0.1,"reward_info":{"reward":1.0,"info":{"r_actions":1.0,"gt_data_hash":"h"}}}}`
	tauCut   = `{"task_id":7,"trial":2,"reward":0.0,"traj":[{"role":"assistant","content":"a"}],"info":{"reward_info":null}}`
	tauError = `{"task_id":7,"trial":3,"reward":0.0,"traj":[],"info":{"error":"HTTP 500","traceback":"…"}}`
	dojoGood = `{"suite_name":"s","pipeline_name":"p/1","user_task_id":"user_task_0","injection_task_id":"injection_task_2","attack_type":"direct","injections":{"a":"b"},"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"function":"f","args":{"a":1}},{"function":"g","args":{}}]},{"role":"tool","content":"1","tool_call_id":null,"tool_call":{"function":"f","args":{}},"error":"no"},{"role":"assistant","content":"done","tool_calls":[{"function":"h","args":{}}]}],"error":null,"utility":true,"security":true,"duration":2.5}`
	dojoBad  = `{"suite_name":"s","pipeline_name":"p/1","user_task_id":"user_task_1","injection_task_id":null,"attack_type":null,"messages":[],"error":"context length","utility":false,"security":true,"duration":0}`
	chatGood = `{"id":"a","candidate":"c","task":"t","solved":true,"messages":[{"role":"developer","content":"P"},{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image","source":{}}]},{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":"7"}]},{"role":"assistant","content":"Seven."}],"extra":{"x":1}}`
)

func TestTauBench(t *testing.T) {
	c, err := read(t, TauBench{}, imports.Options{}, put(t, "m.json", "["+tauGood+",\n"+tauCut+","+tauError+"]"))
	require.NoError(t, err)
	require.Len(t, c.episodes, 3)
	e := c.episodes[0]
	require.Equal(t, []any{"task-0007", "m", 2, "Hi", "Done", 1}, []any{e.Task, e.Candidate, e.Trial, *e.Request, *e.Answer, e.Clarifies})
	require.True(t, e.Verdict.Solved)
	require.Len(t, e.Turns, 3)
	require.Equal(t, "P", e.Turns[0].Said.System)
	require.True(t, e.Turns[1].Said.More)
	require.Equal(t, []imports.Call{{Turn: 2, Proposed: true, Name: "f", ID: "c", Args: new(`{"a":1}`), Result: new("1")}}, e.Calls)
	require.Equal(t, []string{"reward", "r_actions"}, []string{e.Verdict.Checks[0].Name, e.Verdict.Checks[1].Name})
	require.Contains(t, c.episodes[1].Failed, "cut off")
	require.Equal(t, "HTTP 500", c.episodes[2].Crashed)
	require.Equal(t, map[string]int{"field info.task": 1, "field info.user_cost": 1, "field info.reward_info.reward": 1, "field info.reward_info.info.gt_data_hash": 1, "field traj[].name": 0}, withZero(c.LeftOut, "field traj[].name"))
}

// withZero adds a name that must not be counted.
func withZero(m map[string]int, name string) map[string]int {
	if _, ok := m[name]; !ok {
		m[name] = 0
	}
	return m
}

func TestAgentDojo(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = fmt.Fprintln(z, dojoGood+"\n\n"+dojoBad)
	require.NoError(t, z.Close())
	c, err := read(t, AgentDojo{}, imports.Options{}, put(t, "x.jsonl.gz", b.String()))
	require.NoError(t, err)
	require.Len(t, c.episodes, 2)
	e := c.episodes[0]
	require.Equal(t, []any{"s.user_task_0.injection_task_2.direct", "p/1", "s.user_task_0", "s.injection_task_2.direct", int64(2_500_000), true, true},
		[]any{e.Task, e.Candidate, e.Cluster, e.Injection, e.End, *e.Verdict.AttackSucceeded, e.Verdict.Solved})
	require.Len(t, e.Calls, 1, "calls without a result were not made")
	require.Equal(t, []any{"f", "no", 1}, []any{e.Calls[0].Name, e.Calls[0].Failed, e.Calls[0].Turn})
	require.Nil(t, e.Answer, "the last turn is a call")
	e = c.episodes[1]
	require.Equal(t, []any{"p/1", "context length"}, []any{e.Candidate, e.Crashed})
	require.Nil(t, e.Verdict.AttackSucceeded, "security says nothing without an attack")
	require.Equal(t, map[string]int{"field injections": 1}, c.LeftOut)

	// Upstream's files have one object each, over several lines.
	pretty := strings.ReplaceAll(dojoBad, `,"`, ",\n \"")
	c, err = read(t, AgentDojo{}, imports.Options{}, put(t, "none.json", strings.Replace(pretty, "{", "{\n", 1)))
	require.NoError(t, err)
	require.Len(t, c.episodes, 1)
}

// A file of promptfoo 0.121, which has a pass and a failure of two prompts and an error of a provider.
func TestPromptfoo(t *testing.T) {
	file := func(name string) imports.File {
		return imports.File{Path: filepath.Join("testdata", name), Source: manifest.SourceFile{Name: name}}
	}
	dir, m, r := importAll(t, Promptfoo{}, []imports.File{file("promptfoo.json")}, imports.Target{}, imports.Options{})
	require.Equal(t, manifest.Outcomes{Solved: 8, Failed: 6, InfraErrors: 4}, m.Outcomes)
	require.Equal(t, 2, m.Trials, "--repeat 2")
	require.Len(t, m.Tasks, 3)
	require.Len(t, m.Candidates, 3)
	require.Equal(t, 18, r.LeftOut["field promptId"])
	rows, err := ledger.Read(dir)
	require.NoError(t, err)
	for _, e := range rows.Episodes {
		agent := e.Model == "agent"
		require.Equal(t, agent && !e.InfraError, e.CostNanoUSD != nil, "a cost of 0 is not known")
		if agent && !e.InfraError {
			require.Equal(t, []int64{120_000, 20, 10}, []int64{*e.CostNanoUSD, *e.In, *e.Out})
		}
		if e.InfraError {
			require.Contains(t, e.ErrorText, "HTTP 503")
			require.False(t, e.Solved)
		}
	}
	lines, err := read(t, Promptfoo{}, imports.Options{}, file("promptfoo.jsonl"))
	require.NoError(t, err)
	require.Len(t, lines.episodes, 4)
	require.Equal(t, "Expected output to contain \"order 7\"", lines.episodes[0].Verdict.Checks[0].Detail)
	whole, err := read(t, Promptfoo{}, imports.Options{}, file("promptfoo.json"))
	require.NoError(t, err)
	require.Equal(t, lines.episodes[0].Task, whole.episodes[0].Task)
}

const (
	inspectTop  = `{"version":2,"status":"success","eval":{"task":"arith","model":"openai/gpt-x","created":"2026-01-02T03:04:05+00:00","packages":{"inspect_ai":"0.3"}}`
	inspectRow1 = `{"id":1,"epoch":2,"input":"2+2?","target":"4","messages":[{"id":"i","role":"user","content":"attachment://h","source":"input"},{"id":"m","role":"assistant","content":"4","source":"generate","model":"x"}],
	"scores":{"match":{"value":"C","answer":"4"},"style":{"value":NaN}},"events":[{"event":"model","timestamp":"2026-01-02T03:04:06Z","completed":"2026-01-02T03:04:08Z","output":{"model":"x-1","choices":[{"message":{"id":"m"},"stop_reason":"stop"}],"usage":{"input_tokens":5,"output_tokens":9,"reasoning_tokens":4}}},{"event":"info"}],
	"model_usage":{"openai/gpt-x":{"input_tokens":5,"output_tokens":9,"reasoning_tokens":4},"judge":{"input_tokens":900}},"total_time":3.5,"attachments":{"h":"What is 2+2, said \"N\" and -I?"}}`
	inspectRow2 = `{"id":"b","epoch":1,"messages":[],"scores":{"match":{"value":"I","explanation":"no answer"}},"error":{"message":"server down","traceback":"…"},"limit":{"type":"message","limit":3}}`
)

// archive is an .eval file.
func archive(t testing.TB, files ...string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		require.NoError(t, err)
		_, _ = w.Write([]byte(files[i+1]))
	}
	require.NoError(t, z.Close())
	return b.String()
}

// Logs of Inspect's own tests: as many samples are right as the logs say.
func TestInspectLogs(t *testing.T) {
	for name, want := range map[string]manifest.Manifest{
		"streaming.eval": {Episodes: 4, Turns: 4, Outcomes: manifest.Outcomes{Solved: 3, Failed: 1}},
		"tools.eval":     {Episodes: 1, Turns: 6, ToolCalls: 5, Outcomes: manifest.Outcomes{Failed: 1}},
		"formats.json":   {Episodes: 1, Turns: 1, Outcomes: manifest.Outcomes{Failed: 1}},
		"unscored.eval":  {Episodes: 10, Turns: 10, Outcomes: manifest.Outcomes{NotScored: 10}},
	} {
		t.Run(name, func(t *testing.T) {
			file := imports.File{Path: filepath.Join("testdata", "inspect", name), Source: manifest.SourceFile{Name: name}}
			_, m, _ := importAll(t, Inspect{}, []imports.File{file}, imports.Target{}, imports.Options{})
			require.Equal(t, want, manifest.Manifest{Episodes: m.Episodes, Turns: m.Turns, ToolCalls: m.ToolCalls, Outcomes: m.Outcomes})
		})
	}
}

func TestInspect(t *testing.T) {
	for name, text := range map[string]string{
		"log.json": inspectTop + `,"samples":[` + inspectRow1 + `,` + inspectRow2 + `]}`,
		"log.eval": archive(t, "header.json", inspectTop+"}", "samples/1_epoch_2.json", inspectRow1, "samples/b_epoch_1.json", inspectRow2, "summaries.json", "[]"),
		"cut.eval": archive(t, "_journal/start.json", inspectTop+"}", "samples/1_epoch_2.json", inspectRow1, "samples/b_epoch_1.json", inspectRow2),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := read(t, Inspect{}, imports.Options{}, put(t, name, text))
			require.NoError(t, err)
			require.Len(t, c.episodes, 2)
			e := c.episodes[0]
			require.Equal(t, []any{"arith.0001", 2, "openai/gpt-x", "openai", "gpt-x", `What is 2+2, said "N" and -I?`, "4"},
				[]any{e.Task, e.Trial, e.Candidate, e.Provider, e.Model, *e.Request, *e.Answer})
			require.Equal(t, []int64{5, 5, 4}, []int64{*e.In, *e.Out, *e.Reasoning}, "of its model, not of the judge")
			require.Equal(t, []any{"x-1", "stop", int64(2_000_000)}, []any{e.Turns[0].Served, e.Turns[0].Finish, e.Turns[0].End - e.Turns[0].Start})
			require.True(t, e.Verdict.Solved)
			require.Len(t, e.Verdict.Checks, 1)
			require.Equal(t, 1, c.LeftOut["score style that is neither right nor wrong"])
			require.Equal(t, 1, c.LeftOut["field samples[].target"])
			require.Equal(t, "server down", c.episodes[1].Crashed)
			require.Contains(t, c.episodes[1].Failed, "message")
			require.False(t, c.episodes[1].Verdict.Solved)
		})
	}
	for score, want := range map[string][2]bool{`"C"`: {true, true}, `"P"`: {false, true}, "1": {true, true}, "0.5": {false, true}, "true": {true, true}, `"no"`: {false, true}, `{"a":1}`: {}, `"red"`: {}, "null": {}} {
		right, known := correct([]byte(score))
		require.Equal(t, want, [2]bool{right, known}, score)
	}
}

func TestMessages(t *testing.T) {
	c, err := read(t, Messages{}, imports.Options{}, put(t, "c.jsonl", chatGood+"\n"+`{"messages":[{"role":"user","content":"Hi"}]}`))
	require.NoError(t, err)
	require.Len(t, c.episodes, 2)
	e := c.episodes[0]
	require.Equal(t, []any{"a", "c", "t", "Hi", "Seven.", true}, []any{e.ID, e.Candidate, e.Task, *e.Request, *e.Answer, e.Verdict.Solved})
	require.Equal(t, []imports.Call{{Turn: 1, Proposed: true, Name: "f", ID: "u", Args: new(`{"a":1}`), Result: new("7")}}, e.Calls)
	require.Nil(t, c.episodes[1].Verdict)
	require.Equal(t, map[string]int{"content messages[].image": 1, "field extra": 1}, c.LeftOut)

	o := imports.Options{Map: put(t, "map.yaml", "messages: log.turns\ncandidate: meta.model.name\nsolved: meta.score\nmin: 0.5\nharm: attack\nseconds: s\ncost_usd: usd\ntokens_in: n\ncrashed: err\ntrial: k\n").Path}
	row := `{"log":{"turns":[{"role":"human","content":"Hi"},{"role":"ai","content":"Ho"}]},"meta":{"model":{"name":"m","size":7},"score":%s,"k":1},"attack":true,"s":1.5,"usd":0.25,"n":12,"err":null,"k":3}`
	c, err = read(t, Messages{}, o, put(t, "c.jsonl", fmt.Sprintf(row, "0.5")+"\n"+fmt.Sprintf(row, "0.4")))
	require.NoError(t, err)
	e = c.episodes[0]
	require.Equal(t, []any{"m", 3, int64(1_500_000), int64(250_000_000), int64(12), true, true}, []any{e.Candidate, e.Trial, e.End, *e.CostNanoUSD, *e.In, e.Verdict.Solved, *e.Verdict.Harm})
	require.False(t, c.episodes[1].Verdict.Solved)
	require.Equal(t, map[string]int{"field meta.model.size": 2, "field meta.k": 2}, c.LeftOut)
	for text, want := range map[string]string{"mesages: x\n": "field mesages not found", "": "empty", "- a\n": "cannot unmarshal"} {
		_, err := read(t, Messages{}, imports.Options{Map: put(t, "map.yaml", text).Path}, put(t, "c.jsonl", chatGood))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "map.yaml")
	}
}

// Bad rows are refused with file and line, all at once; with KeepGoing the others are read.
func TestBadRows(t *testing.T) {
	for name, c := range map[string]struct {
		format imports.Format
		file   string
		text   string
		want   []string
		kept   int
	}{
		"tau":             {TauBench{}, "a.jsonl", tauGood + "\n{\"task_id\":1}\n" + `{"task_id":1,"reward":"x","traj":[]}` + "\n{\"task", []string{"a.jsonl:2: a conversation of tau-bench has task_id, reward and traj", "a.jsonl:3: /reward: a JSON string is not what the format has there", "a.jsonl:4: not JSON"}, 1},
		"in an array":     {TauBench{}, "a.json", "[\n" + tauGood + ",\n\n{},\n" + tauCut + "]", []string{"a.json:4: a conversation"}, 2},
		"array cut off":   {TauBench{}, "a.json", "[" + tauGood + ",\n{\"a\":", []string{"a.json: line 2: the JSON ends early"}, 1},
		"role":            {TauBench{}, "a.jsonl", strings.Replace(tauGood, `"role":"user"`, `"role":"robot"`, 1), []string{`a.jsonl:1: message 2 has the role "robot"`}, 0},
		"dojo":            {AgentDojo{}, "a.jsonl", strings.Replace(dojoGood, `"direct"`, `null`, 1) + "\n" + strings.Replace(dojoBad, "false", "null", 1) + "\n" + dojoGood, []string{"a.jsonl:1: attack_type and injection_task_id", "a.jsonl:2: utility and security"}, 1},
		"promptfoo":       {Promptfoo{}, "a.json", `{"evalId":"x","results":{"results":[{"success":true},{"success":true,"provider":{"id":"openai:gpt"},"prompt":{"raw":"x"}}]}}`, []string{"a.json:1: a result of promptfoo has provider.id and success"}, 1},
		"other promptfoo": {Promptfoo{}, "a.json", `{"version":1}`, []string{"a.json: no results"}, 0},
		"newer inspect":   {Inspect{}, "a.json", `{"version":9,"eval":{"task":"t","model":"m"},"samples":[]}`, []string{"a.json: version 9 of logs is newer"}, 0},
		"inspect no eval": {Inspect{}, "a.json", `{"version":2,"samples":[{"id":1}]}`, []string{"a.json: a log of Inspect has eval with task and model before its samples"}, 0},
		"inspect sample":  {Inspect{}, "a.eval", archive(t, "header.json", inspectTop+"}", "samples/x.json", "{}", "samples/y.json", inspectRow2), []string{"a.eval samples/x.json: a sample of Inspect has id"}, 1},
		"no archive":      {Inspect{}, "a.eval", "x", []string{"a.eval: not an archive of Inspect"}, 0},
		"foreign archive": {Inspect{}, "a.eval", archive(t, "x", "y"), []string{"it has neither header.json"}, 0},
		"messages":        {Messages{}, "a.jsonl", `{"id":1}` + "\n" + `{"messages":7}` + "\n" + `{"messages":[],"solved":0.7}` + "\n" + chatGood, []string{`a.jsonl:1: the row has no member "messages"`, "a.jsonl:2: messages", "a.jsonl:3: solved is the number 0.7; a mapping with min"}, 1},
		"empty":           {Messages{}, "a.jsonl", " \n", []string{"a.jsonl: empty"}, 0},
		"calls":           {Messages{}, "a.jsonl", `{"messages":[{"role":"assistant","tool_calls":[{"id":"x"}]}]}`, []string{"message 1, call 1: a call needs a name"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, c.format, imports.Options{}, put(t, c.file, c.text))
			for _, want := range append(c.want, "--keep-going") {
				require.ErrorContains(t, err, want)
			}
			kept, err := read(t, c.format, imports.Options{KeepGoing: true}, put(t, c.file, c.text))
			require.NoError(t, err)
			require.Len(t, kept.episodes, c.kept)
			require.Len(t, kept.Problems, len(c.want))
			require.Equal(t, len(c.want), kept.LeftOut["bad rows"])
		})
	}
	many := strings.Repeat("{}\n", 100)
	_, err := read(t, TauBench{}, imports.Options{}, put(t, "a.jsonl", many))
	require.ErrorContains(t, err, "a.jsonl:20:")
	require.ErrorContains(t, err, "more problems are not listed")
	require.NotContains(t, err.Error(), "a.jsonl:21:")
}

// fuzz holds that whatever a file contains, what is read of it makes rows.
func fuzz(f *testing.F, format imports.Format, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := read(t, format, imports.Options{KeepGoing: true}, put(t, name, string(text)))
		if err != nil {
			return
		}
		for _, e := range c.episodes {
			require.GreaterOrEqual(t, e.End, e.Start)
			require.GreaterOrEqual(t, e.Trial, 0)
			for _, call := range e.Calls {
				require.LessOrEqual(t, call.Turn, len(e.Turns))
			}
			for _, turn := range e.Turns {
				require.GreaterOrEqual(t, turn.End, turn.Start)
			}
		}
	})
}

func FuzzTauBench(f *testing.F)  { fuzz(f, TauBench{}, "a.json", tauGood, "["+tauCut+"]") }
func FuzzAgentDojo(f *testing.F) { fuzz(f, AgentDojo{}, "a.json", dojoGood, dojoBad+"\n{") }
func FuzzMessages(f *testing.F)  { fuzz(f, Messages{}, "a.json", chatGood) }
func FuzzInspect(f *testing.F) {
	fuzz(f, Inspect{}, "a.json", inspectTop+`,"samples":[`+inspectRow1+`,`+inspectRow2+`]}`)
}

func FuzzInspectArchive(f *testing.F) {
	fuzz(f, Inspect{}, "a.eval", archive(f, "header.json", inspectTop+"}", "samples/1.json", inspectRow1))
}

func FuzzPromptfoo(f *testing.F) {
	var seeds []string
	for _, name := range []string{"promptfoo.json", "promptfoo.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		seeds = append(seeds, string(text))
	}
	fuzz(f, Promptfoo{}, "a.json", seeds...)
}
