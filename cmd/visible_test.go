package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// cupel searches the original text for credentials, before it makes the text inert.
func TestWhatIsPrintedIsGuardedFirst(t *testing.T) {
	out := new(strings.Builder)
	p := &process{stdout: out, stderr: out, env: func(string) (string, bool) { return "", false }}
	p.guard()
	const key = "canary##[0123456789"
	p.secrets.Add(key)
	for _, c := range []struct {
		to   io.Writer
		want string
	}{
		{p.stdout, `:\:x ##\[y] \u{1B} ` + secrets.Hidden}, {p.stderr, `:\:x ##\[y] \u{1B} ` + secrets.Hidden},
		{p.commands, `::x ##\[y] \u{1B} ` + secrets.Hidden}, {p.json, `::x #\u0023[y] ` + "\x1b " + secrets.Hidden},
	} {
		out.Reset()
		_, err := io.WriteString(c.to, "::x ##[y] \x1b "+key)
		require.NoError(t, err)
		require.Equal(t, c.want, out.String())
	}
}

// hostile is the text of model, tool, provider and suite in the test below.
const hostile = "owned\n::error::owned\n  ::stop-commands::owned\r::add-mask::owned ##[group]owned ##vso[task.complete result=Failed;]owned ##teamcity[owned] \x1b[0Ksection_start:1:owned\r\x1b[0K \u202e"

var annotation = regexp.MustCompile(`^::(error|warning|notice) title=[^:]*::`)

// runnerCommand returns the first line that a CI runner would execute as a command, except cupel's
// annotations.
func runnerCommand(printed string) string {
	for line := range strings.FieldsFuncSeq(printed, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "::") && !annotation.MatchString(text) {
			return line
		}
		for _, mark := range []string{"##[", "##vso[", "##teamcity[", "\x1b"} {
			if strings.Contains(line, mark) {
				return line
			}
		}
	}
	return ""
}

// hostileServer is a model and a tool that return it.
func hostileServer(t *testing.T) string {
	var answers atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		said := string(body)
		if strings.HasPrefix(req.URL.Path, "/tool") {
			_ = json.NewEncoder(w).Encode(map[string]string{"value": hostile})
			return
		}
		if strings.Contains(said, "Fail now") {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": hostile, "type": hostile, "code": hostile}})
			return
		}
		reason, action := "ok", map[string]any{"type": "respond", "message": fmt.Sprint("It is ", hostile, answers.Add(1))}
		switch {
		case strings.Contains(said, "Ask me") && !strings.Contains(said, "said so"):
			reason, action = "need_clarification", map[string]any{"type": "clarify", "message": "Which " + hostile}
		case strings.Contains(said, "Call it") && !strings.Contains(said, "get_counts ok"):
			action = map[string]any{"type": "tool", "name": "get_counts", "args": map[string]any{"label": hostile}}
		case strings.Contains(said, "Call what"):
			action = map[string]any{"type": "tool", "name": hostile, "args": map[string]any{}}
		}
		text, _ := json.Marshal(map[string]any{
			"control": map[string]any{"done": action["type"] == "respond", "reason": reason}, "next_action": action,
			"state_update": map[string]any{"plan": hostile, "observation": hostile, "confidence": 0.5},
		})
		if strings.Contains(said, "You compare the work") {
			text, _ = json.Marshal(map[string]string{"reason": hostile, "better": "first"})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": hostile, "model": hostile, "choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": string(text)}, "finish_reason": "stop"}},
			"usage": map[string]int{"prompt_tokens": 1, "completion_tokens": 1},
		})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const hostileSuite = `name: hostile
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: w, tools: [get_counts]}
candidates:
  - {name: c, provider: openai-compatible, model: m, base_url: "%[1]s/v1"}
judges:
  - {name: j, rubric: %[2]s, provider: openai-compatible, model: m, base_url: "%[1]s/v1"}
tools:
  - name: get_counts
    description: %[2]s
    schema: {type: object, properties: {label: {type: string}}, required: [label]}
    http: {url: "%[1]s/tool"}
tasks:
  - {id: E01, request: %[2]s, expect: {status: answered, contains_all: [%[2]s, nothing of the kind]}}
  - {id: E02, request: Ask me, replies: [%[3]s], expect: {status: answered_after_clarify}}
  - {id: E03, request: Call it, expect: {status: answered}}
  - {id: E04, request: Call what, expect: {status: answered}}
  - {id: E05, request: Fail now, expect: {status: answered}}
`

// TestNoVerbGivesARunnerCommands runs every verb on the texts of a hostile model, tool, provider and
// suite, and reads the output like the runners of CI jobs.
func TestNoVerbGivesARunnerCommands(t *testing.T) {
	url, dir := hostileServer(t), t.TempDir()
	suite, runs := filepath.Join(dir, "s"), filepath.Join(dir, "runs")
	require.NoError(t, os.MkdirAll(suite, 0o755))
	quoted, err := json.Marshal(hostile)
	require.NoError(t, err)
	reply, err := json.Marshal("said so " + hostile)
	require.NoError(t, err)
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	put("s/suite.yaml", fmt.Sprintf(hostileSuite, url, quoted, reply))
	config := put("cupel.yaml", fmt.Sprintf("suite: %q\nruns: %q\n", suite, runs))
	broken := put("broken.yaml", fmt.Sprintf("suite: %s\n%s: 1\ncandidates: [{name: %s, provider: %s, model: %s}]\n", quoted, quoted, quoted, quoted, quoted))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "bad"), 0o755))
	put("bad/suite.yaml", fmt.Sprintf("name: bad\n%s: 1\ntasks: [{id: %s, request: x, world: %s, tools: [%s]}]\n", quoted, quoted, quoted, quoted))
	line, err := json.Marshal(map[string]any{"id": hostile, "output": hostile})
	require.NoError(t, err)

	seen := map[string]bool{}
	run := func(stdin string, args ...string) (printed string) {
		in, err := os.Open(put("stdin", stdin))
		require.NoError(t, err)
		defer func() { require.NoError(t, in.Close()) }()
		out, problems := new(strings.Builder), new(strings.Builder)
		p := &process{
			args: args, stdin: in, stdout: out, stderr: problems, now: time.Now,
			env: func(name string) (string, bool) { return "true", name == "GITHUB_ACTIONS" },
		}
		if execute(p) == exit.BadUsage {
			require.Contains(t, problems.String(), "owned", "only what is hostile may be refused")
		}
		for _, printed := range []string{out.String(), problems.String()} {
			require.Empty(t, runnerCommand(printed), "cupel %s:\n%s", strings.Join(args, " "), printed)
		}
		verb, _, err := newRoot(p).Find(args)
		require.NoError(t, err)
		seen[verb.CommandPath()] = true
		return out.String() + problems.String()
	}
	quotes := func(printed string) { t.Helper(); require.Contains(t, printed, "owned") }
	c := "--config=" + config

	run("", "run", c, "--mode=record")
	run("", "run", c, "--mode=record", "--json", "--stale")
	quotes(run("", "run", c, "--mode=live", "--json"))
	run("", "run", c, "--mode=record", "--shard=1/2")
	run("", "run", c, "--mode=record", "--shard=2/2")
	run("", "merge", c, "latest-any", "previous-any")
	run("", "run", c, "--mode=record")
	run("", "judge", "compare", c, "previous", "latest", "--mode=record")
	quotes(run("", "judge", "compare", c, "previous", "latest", "--json"))
	quotes(run("", "run", c, "--config="+broken))
	quotes(run("", "run", c, "--suite="+filepath.Join(dir, "bad")))
	run("", "run", c, "--dry-run")
	run("", "run", c, "--dry-run", "--json")
	run("", "verify", c, "latest")
	run("", "rescore", c, "latest")
	sample := filepath.Join(t.TempDir(), "labels.csv")
	run("", "label", "sample", c, "latest", "-o", sample)
	run("", "label", "import", c, "latest", put("labels.jsonl", fmt.Sprintf(`{"task": %[1]s, "candidate": %[1]s, "verdict": %[1]s, "labeller": %[1]s}`, quoted)))
	for _, format := range []string{".md", ".html", ".xml", ".json"} {
		quotes(run("", "report", c, "latest", "-o", "-"+format))
		run("", "compare", c, "previous", "latest", "-o", "-"+format)
	}
	run("", "compare", c, "previous", "latest")
	run("", "gate", c, "latest")
	run("", "gate", c, "latest", "--baseline=previous")
	for _, task := range []string{"E01", "E02", "E03", "E04"} {
		quotes(run("", "show", c, "latest", task))
	}
	run("", "show", c, "latest", "E05") // it failed without a cassette; reports have its error
	run("", "show", c, "latest")
	for _, output := range [][]string{nil, {"-o", "-.csv"}, {"-o", "-.json"}} {
		quotes(run("", append([]string{"query", c, "latest", "count() group by answer, error_text"}, output...)...))
	}
	quotes(run("", "import", "otlp", "--runs="+filepath.Join(dir, "imported"), put("hostile.json", fmt.Sprintf(`{"object":"trace.span","id":"a","trace_id":"t","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z","span_data":{"type":%s}}
{"object":"trace.span","id":"b","trace_id":"t","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z","span_data":{"type":"generation","output":[{"role":"assistant","content":%s}]}}`, quoted, quoted))))
	for format, text := range map[string]string{
		"tau-bench": `{"task_id":%[1]s,"reward":1,"traj":[{"role":"assistant","content":%[1]s}],%[1]s:7}`,
		"agentdojo": `{"suite_name":%[1]s,"pipeline_name":%[1]s,"user_task_id":"u","utility":true,"security":true,"error":%[1]s,%[1]s:7}`,
		"promptfoo": `{"provider":{"id":%[1]s},"success":false,"prompt":{"raw":%[1]s},%[1]s:7}`,
		"inspect":   `{"version":2,"eval":{"task":%[1]s,"model":%[1]s},"samples":[{"id":%[1]s,%[1]s:7,"scores":{%[1]s:{"value":"C"}}}]}`,
		"messages":  `{"id":%[1]s,"messages":[{"role":"user","content":%[1]s}],%[1]s:7}`,
	} {
		quotes(run("", "import", format, "--runs="+filepath.Join(dir, "imported"), put("hostile-"+format+".json", fmt.Sprintf(text, quoted))))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "bfcl"), 0o755))
	put("bfcl/simple.jsonl", fmt.Sprintf(`{"id":"a","question":%[1]s,%[1]s:7,"function":{"name":"f","parameters":{"type":"dict","properties":{}}},"ground_truth":{"f":{%[1]s:[%[1]s]}}}`, quoted))
	quotes(run("", "suite", "import", "bfcl", filepath.Join(dir, "bfcl"), "--out", filepath.Join(dir, "imported-bfcl")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "owned-tau"), 0o755))
	put("owned-tau/wiki.md", hostile)
	put("owned-tau/score.py", fmt.Sprintf("raise ValueError(%s)\n", quoted))
	quotes(run("", "suite", "import", "tau-bench", filepath.Join(dir, "owned-tau"), "--out", filepath.Join(dir, "imported-tau")))
	run("", "canary", c)
	run("", "canary", c, "--json")
	quotes(run("", "suite", "lint", "--suite="+filepath.Join(dir, "bad")))
	run("", "suite", "list", c)
	run("", "suite", "schema")
	run("", "suite", "add", c, "--from=latest/E01", "--id=N01")
	quotes(run("", "suite", "play", c, "--from=latest/E02"))
	put("bad/suite.yaml", "name: bad\ntasks: [{id: A, request: x, expect: {status: answered}}]\n")
	put("bad/playbook.yaml", fmt.Sprintf("playbook: {%s: [{call: %s, args: {%s: %s}}], A: [{answer: %s}, {ask: x}]}\n", quoted, quoted, quoted, quoted, quoted))
	quotes(run("", "suite", "lint", "--suite="+filepath.Join(dir, "bad")))
	run("", "suite", "prove", "--suite="+filepath.Join(dir, "bad"))
	put("bad/suite.yaml", fmt.Sprintf("name: bad\nworlds: {w: {kind: process, process: {command: [echo, %s]}}}\ndefaults: {world: w}\ntasks: [{id: A, request: x, expect: {status: answered}}]\n", quoted))
	quotes(run("", "suite", "tools", filepath.Join(dir, "bad")))
	run("", "cassette", "status", c, "--all")
	run("", "cassette", "status", c, "--json")
	run("", "cassette", "ls", c)
	cassette := filepath.Join(suite, "cassettes", "c", "E01", "1.yaml")
	quotes(run("", "cassette", "diff", cassette, filepath.Join(suite, "cassettes", "c", "E02", "1.yaml")))
	run("", "cassette", "prune", c)
	run("", "cassette", "seal", cassette)
	run("", "cassette", "scan", c)
	run("", "cassette", "audit", filepath.Join(suite, "cassettes"))
	run("", "cassette", "audit", filepath.Join(suite, "cassettes"), "--json")
	run("", "cassette", "pack", c, "-o", filepath.Join(dir, "p.pack"))
	recorded, err := os.ReadFile(cassette)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "joined", hostile, "E01"), 0o755))
	put(filepath.Join("joined", hostile, "E01", "1.yaml"), string(recorded))
	quotes(run("", "cassette", "join", c, filepath.Join(dir, "joined")))
	run("", "cassette", "join", c, filepath.Join(suite, "cassettes"))
	run("", "cassette", "recover", suite)
	run(hostile, "contract", "check")
	quotes(run(string(line)+"\n", "contract", "check", "--jsonl"))
	quotes(run("", "contract", "schema", "--tools="+suite))
	quotes(run("", "judge", "calibrate", c, "--run="+hostile, filepath.Join(dir, hostile)))
	quotes(run("", "judge", "compare", c, "previous:"+hostile, "latest"))
	run("", "doctor", c)
	quotes(run("", "doctor", "--config="+broken))
	run("", "init", filepath.Join(dir, "new"))
	quotes(run("", "sim", "--chaos=no-"+hostile))
	quotes(run("", "tape", "--cassette="+filepath.Join(dir, "tape.yaml"), "--", hostile))
	quotes(run("", "tape", "--cassette="+filepath.Join(dir, hostile), "--mode=replay", "--", "true"))
	quotes(run("", "view", c, hostile))
	quotes(run("", "no-such\n"+hostile))

	var each func(*cobra.Command)
	each = func(verb *cobra.Command) {
		for _, sub := range verb.Commands() {
			each(sub)
		}
		if !verb.HasSubCommands() && !seen[verb.CommandPath()] && verb.Name() != "help" && verb.Parent().Name() != "completion" {
			t.Errorf("%s is not in this test: run it here on what a hostile model said", verb.CommandPath())
		}
	}
	each(newRoot(&process{}))
}
