package load

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
)

// externalFull are all settings of an external agent but the two that exclude each other.
const externalFull = `{name: mine, agent: external, provider: openai,
    http: {url: "http://127.0.0.1:9/run", method: PUT, headers: {Authorization: "Bearer {{env.TOKEN}}"}, body: {q: "{{request}}", u: "{{base_url}}", n: [1, true, null]},
      answer: /out, poll: {url: "http://127.0.0.1:9/run/{{/id}}", until: /done, every: 2s, timeout: 1m}, ready: {url: "http://127.0.0.1:9/up", method: HEAD, status: 204, within: 30s}, conversation: own},
    proxy: {listen: "127.0.0.1:4100", advertise: "http://host.docker.internal:4100", token_env: SECRET},
    models: {gpt-4o: {provider: anthropic, model: claude, max_output: 900}, other: {}}, ignore: [/metadata], replace: ["run-[0-9]+"], correlate: url}`

// Suites and Go tags read the same settings.
func TestExternalSettings(t *testing.T) {
	text := suitetest.Head + "candidates:\n  - " + externalFull + "\n  - {name: two, agent: external, provider: p, exec: {command: [python3, ./a.py], cwd: work, env: [A, B=c]}}\ntasks: [" + suitetest.Task + "]\n"
	require.NoError(t, compiledSchema(t).Validate(asJSON(t, []byte(text))))
	suite, err := Suite(suitetest.Folder(text), "s", counts.Worlds())
	require.NoError(t, err)
	want := external.Settings{
		HTTP: external.HTTP{
			URL: "http://127.0.0.1:9/run", Method: "PUT", Headers: map[string]string{"Authorization": "Bearer {{env.TOKEN}}"},
			Body: map[string]any{"q": "{{request}}", "u": "{{base_url}}", "n": []any{1.0, true, nil}}, Answer: "/out",
			Poll:  external.Poll{URL: "http://127.0.0.1:9/run/{{/id}}", Until: "/done", Every: 2 * time.Second, Timeout: time.Minute},
			Ready: external.Ready{URL: "http://127.0.0.1:9/up", Method: "HEAD", Status: 204, Within: 30 * time.Second}, Conversation: "own",
		},
		Proxy:  external.Proxy{Listen: "127.0.0.1:4100", Advertise: "http://host.docker.internal:4100", TokenEnv: "SECRET"},
		Models: map[string]external.Model{"gpt-4o": {Provider: "anthropic", Model: "claude", MaxOutput: 900}, "other": {}},
		Ignore: []string{"/metadata"}, Replace: []string{"run-[0-9]+"}, Correlate: "url",
	}
	require.Equal(t, want, suite.Candidates[0].Settings)
	require.Equal(t, external.Settings{Exec: external.Exec{Command: []string{"python3", "./a.py"}, Cwd: "work", Env: []string{"A", "B=c"}}, Dir: "s"}, suite.Candidates[1].Settings)

	var tagged goldens.Candidate
	require.NoError(t, yaml.Unmarshal([]byte(externalFull), &tagged))
	tagged.HTTP.Body, want.HTTP.Body = nil, nil // a float there, an int here
	require.Equal(t, want, tagged.Settings)
}

func TestExternalProblems(t *testing.T) {
	for _, tc := range []struct{ fields, want string }{
		{"agent: external", "exec: is missing; set one of exec, http and n8n"},
		{"agent: external, exec: {command: [a]}, stream: true", "stream: agent external has no such setting: it makes its own requests"},
		{"agent: external, exec: {command: [a]}, system: Be brief.", "system: agent external has no such setting; it is a setting of tools, plan and orchestrator"},
		{"agent: external, exec: {comand: [a]}", "exec.comand: unknown field (did you mean command?); allowed: command, cwd, env"},
		{"agent: external, exec: {command: a}", "exec.command: must be a list, but is a string"},
		{"agent: external, exec: {command: [1]}", "exec.command[0]: must be a string, but is a number: put 1 in quotes"},
		{"agent: external, exec: {command: [a]}, models: {x: {max_output: -1}}", `models: max_output of "x" must be from 1 to 1000000, but is -1`},
		{"agent: external, exec: {command: [a]}, models: {x: {max_output: 2000000}}", `models: max_output of "x" must be from 1 to 1000000, but is 2000000`},
		{"agent: tools, exec: {command: [a]}", "exec: agent tools has no such setting; it is a setting of external"},
		{"ignore: [/a]", "ignore: agent contract has no such setting; it is a setting of external"},
	} {
		t.Run(tc.fields, func(t *testing.T) {
			got := problemsOf(t, suitetest.Folder(suitetest.Head+"candidates: [{name: a, provider: p, model: m, "+tc.fields+"}]\ntasks: ["+suitetest.Task+"]\n"))
			require.Equal(t, []string{"s/suite.yaml:19: candidates[0]." + tc.want}, got)
		})
	}
	got := problemsOf(t, suitetest.Folder(suitetest.Head+"tasks: ["+strings.Replace(suitetest.Task, "{", "{script: [{respond: x}], agent: external, ", 1)+"]\n"))
	require.Contains(t, got, `s/suite.yaml:19: tasks[0].agent: "external" is not known; allowed: contract, tools, plan, orchestrator`)
}

// Settings of the matrix apply to all candidates, those of an entry to its own.
func TestExternalMatrix(t *testing.T) {
	out, err := matrixOf(t, `
matrix:
  agent: external
  provider: a
  model: [x, y]
  exec: {command: [python3, ./a.py]}
  models: {m: {max_output: 100}}
  include:
    - {model: y, exec: {command: [c], cwd: w}}
    - {name: web, agent: external, provider: a, model: z, exec: {command: [b]}}
`)
	require.NoError(t, err)
	require.Equal(t, []string{"a-x-external", "a-y-external", "web"}, matrixNames(out))
	require.Equal(t, external.Exec{Command: []string{"c"}, Cwd: "w"}, out[1].Exec)
	require.Equal(t, external.Exec{Command: []string{"b"}}, out[2].Exec)
	require.Equal(t, 100, out[2].Models["m"].MaxOutput)
	require.Equal(t, "own", out[0].Profile)
	_, err = matrixOf(t, "matrix: {agent: [external, tools], provider: a, model: x, exec: {command: [b]}}")
	require.ErrorContains(t, err, "matrix.exec: agent tools has no such setting; it is a setting of external")
}
