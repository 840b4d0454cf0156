package load

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/world/process"
)

// processSuite is a suite of one world and a task, with the program world.py.
func processSuite(world, program string) fstest.MapFS {
	return fstest.MapFS{"world.py": {Data: []byte(program)}, "suite.yaml": {Data: []byte(`name: p
tools: [{name: lend, description: Lends., schema: {type: object}}]
worlds:
  w: ` + world + `
tasks: [{id: a, request: Lend b1., world: {from: w, state: {b: 2}}, tools: [lend], expect: {status: answered, contains_any: [ok]}}]
`)}}
}

func TestProcessWorld(t *testing.T) {
	const world = `{kind: process, process: {command: [python3, ./world.py, --fast], timeout: 5s, mcp: true, env: [TOKEN]}, state: {a: 1}}`
	load := func(world, program string) goldens.Task {
		s, err := Suite(processSuite(world, program), "folder", nil)
		require.NoError(t, err)
		require.NoError(t, s.Lint(), "what tools a command has is not known")
		return s.Tasks[0]
	}
	task := load(world, "x")
	require.Equal(t, process.Kind{Command: []string{"python3", "./world.py", "--fast"}, Dir: "folder", Timeout: 5 * time.Second, MCP: true, Env: []string{"TOKEN"}}, task.World.Maker)
	require.Equal(t, "process", task.World.Kind)
	require.Equal(t, `{"a":1,"b":2}`, string(task.World.State))
	require.Equal(t, process.Kind{Command: []string{"x"}, Dir: "folder", Timeout: process.DefaultTimeout}, load(`{process: {command: [x]}}`, "").World.Maker)

	digest := task.World.Program
	require.Len(t, digest, 64)
	require.Equal(t, digest, load(world, "x").World.Program)
	for name, other := range map[string]goldens.Task{
		"program":   load(world, "y"),
		"arguments": load(`{process: {command: [python3, ./world.py], mcp: true}}`, "x"),
		"protocol":  load(`{process: {command: [python3, ./world.py, --fast]}}`, "x"),
	} {
		require.NotEqual(t, digest, other.World.Program, name)
	}
	a, err := Suite(processSuite(world, "x"), "folder", nil)
	require.NoError(t, err)
	b, err := Suite(processSuite(world, "y"), "folder", nil)
	require.NoError(t, err)
	require.NotEqual(t, a.Digest, b.Digest)
	require.NotEqual(t, a.TaskDigest(a.Tasks[0]), b.TaskDigest(b.Tasks[0]))
}

func TestProcessProblems(t *testing.T) {
	for world, want := range map[string]string{
		`{kind: process}`:                                    "p/suite.yaml:4: worlds.w.kind: a world of kind process needs its command: write process: {command: [python3, world.py]}",
		`{process: {}}`:                                      "p/suite.yaml:4: worlds.w.process.command: is missing",
		`{process: {command: []}}`:                           "must be a list of the program and its arguments, such as [python3, world.py]",
		`{process: {command: python3}}`:                      "p/suite.yaml:4: worlds.w.process.command: must be a list",
		`{process: {command: [x], timeout: 0s}}`:             "worlds.w.process.timeout: must be more than 0",
		`{process: {command: [x], env: ["A=b"]}}`:            "worlds.w.process.env[0]: must be the name of an environment variable, never its value",
		`{process: {command: [x], shell: true}}`:             "shell",
		`{kind: other, process: {command: [x]}}`:             `a world with a process must be of kind process, but is of kind "other"`,
		`{kind: processes, state: {}}`:                       `unknown kind of world "processes" (did you mean process?)`,
		`{process: {command: [x]}, state: {a: [{b: .nan}]}}`: "worlds.w.state",
	} {
		_, err := Suite(processSuite(world, ""), "p", nil)
		require.ErrorContains(t, err, want, world)
	}
}

// Processes needs only the worlds of a suite.
func TestProcesses(t *testing.T) {
	files := fstest.MapFS{"suite.yaml": {Data: []byte(`
worlds:
  w: {process: {command: [x]}}
  v: {from: w, state: {}}
  u: {now: 2026-01-01T00:00:00Z}
tasks: nothing yet
`)}}
	got, _, err := Processes(files, "folder", nil)
	require.NoError(t, err)
	x := process.Kind{Command: []string{"x"}, Dir: "folder", Timeout: process.DefaultTimeout}
	require.Equal(t, map[string]process.Kind{"w": x, "v": x}, got)
	_, _, err = Processes(processSuite(`{kind: process}`, ""), "p", nil)
	require.ErrorContains(t, err, "p/suite.yaml:4: worlds.w.kind: ")
}
