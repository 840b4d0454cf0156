package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/external"
)

// TestCommandGetsWhatItIsGiven checks that the standard input, arguments, environment
// and folder of a command are those of the specification.
func TestCommandGetsWhatItIsGiven(t *testing.T) {
	for name, value := range map[string]string{"OPENAI_API_KEY": "sk-planted", "AWS_SECRET_ACCESS_KEY": "planted", "HTTPS_PROXY": "http://planted", "DATABASE_URL": "db", "LANG": "de_DE.UTF-8"} {
		t.Setenv(name, value)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	a, err := New(external.Settings{Exec: external.Exec{Command: []string{self, "--", "{{request}}"}, Env: []string{"CUPEL_TEST_AGENT=echo", "DATABASE_URL"}}}, Options{Lookup: os.LookupEnv, Keys: []string{"sk-planted"}})
	require.NoError(t, err)
	require.NoError(t, a.Ready(t.Context()))
	s := start()
	end, err := a.Run(t.Context(), s)
	require.NoError(t, err)
	require.Empty(t, end.Failure)
	require.NotContains(t, end.Answer, "planted")
	require.NotContains(t, end.Answer, token)
	var got struct {
		Stdin, Cwd, Config, Mode, Folder string
		End                              bool
		Args, Env                        []string
	}
	require.NoError(t, json.Unmarshal([]byte(end.Answer), &got))
	require.JSONEq(t, `{"request":"How many?","inputs":{"n":[1]},"constraints":"Be brief.","session_id":"cupel-session","history":[{"request":"q","answer":"a"}],"now":"2026-05-13T12:00:00+02:00","zone":"Europe/Berlin"}`, got.Stdin)
	require.True(t, got.End, "the input ends after one line")
	require.Equal(t, []string{"--", "How many?"}, got.Args)
	require.Equal(t, folderMark, got.Cwd)
	require.JSONEq(t, `{"mcpServers":{"cupel":{"type":"http","url":"http://proxy.invalid/e/cupel-token/mcp"}}}`, got.Config)
	if runtime.GOOS != "windows" {
		require.Equal(t, "-rw-------", got.Mode)
		require.Equal(t, "drwx------", got.Folder)
	}
	names := []string{}
	env := map[string]string{}
	for _, entry := range got.Env {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
		if name != "PATH" && name != "HOME" && name != "TMPDIR" && runtime.GOOS != "windows" {
			names = append(names, name)
		}
	}
	if runtime.GOOS != "windows" {
		require.ElementsMatch(t, []string{
			"LANG", "TZ", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
			"GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OLLAMA_HOST", "OLLAMA_API_KEY", "CO_API_URL", "CO_API_KEY", "COHERE_API_KEY",
			"AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_BEARER_TOKEN_BEDROCK", "MCP_URL", "CUPEL_MCP_CONFIG", "CUPEL_NOW",
			"TRACEPARENT", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL", "OPENAI_AGENTS_DISABLE_TRACING", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "NODE_USE_ENV_PROXY",
			"CUPEL_TEST_AGENT", "DATABASE_URL",
		}, names)
	}
	for name, want := range map[string]string{
		"TZ": "Europe/Berlin", "OPENAI_BASE_URL": "http://proxy.invalid/e/cupel-token/v1", "ANTHROPIC_BASE_URL": "http://proxy.invalid/e/cupel-token", "OPENAI_API_KEY": tokenMark, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://proxy.invalid/e/cupel-token",
		"MCP_URL": "http://proxy.invalid/e/cupel-token/mcp", "CUPEL_NOW": "2026-05-13T12:00:00+02:00", "DATABASE_URL": "db", "NO_PROXY": "127.0.0.1,localhost,::1",
	} {
		require.Equal(t, want, env[name], name)
	}
	for _, name := range names { // New refuses in env the names that Run sets
		if name != "LANG" && name != "DATABASE_URL" && name != "CUPEL_TEST_AGENT" {
			require.Contains(t, external.OwnVariables, name)
		}
	}
	require.NoDirExists(t, start().Folder)
}

func TestAnswersOfCommands(t *testing.T) {
	for name, want := range map[string]End{
		"text":     {Answer: "42 angry messages\nin all"},
		"object":   {Answer: "42", Status: "clarify"},
		"value":    {Answer: `{"n":42}`},
		"numbers":  {Answer: `{"n": 12345678901234567890}`},
		"binary":   {Answer: "a\uFFFD"},
		"nothing":  {Failure: "the command gave no answer"},
		"blank":    {Failure: "the command gave no answer"},
		"null":     {Failure: "the command gave no answer"},
		"half":     {Failure: `the command gave an answer that begins as JSON and is not: "{\"answer\": \"4"`},
		"two":      {Failure: "the command gave 2 answers; one is expected"},
		"log":      {Failure: "the command gave text besides its answer; all else belongs on standard error"},
		"trailing": {Failure: "the command gave text besides its answer; all else belongs on standard error"},
		"status":   {Failure: `the command gave the status "fine"; known: answered, clarify, cannot_proceed`},
		"html":     {Failure: "the command gave HTML in place of an answer"},
		"exit":     {Failure: "the command ended with exit status 3", Stderr: "no model cupel-token http://proxy.invalid/e/cupel-token/mcp\n"},
		"flood":    {Failure: "the command wrote more than 1 MiB to standard output; print the answer alone, and all else to standard error"},
		"secret":   {Answer: "cupel-token http://proxy.invalid/e/cupel-token/v1 /cupel-folder"},
	} {
		t.Run(name, func(t *testing.T) {
			end, err := commandOf(t, name).Run(t.Context(), start())
			require.NoError(t, err)
			require.Equal(t, want, end)
		})
	}
}

func TestStandardErrorIsBounded(t *testing.T) {
	end, err := commandOf(t, "noise").Run(t.Context(), start())
	require.NoError(t, err)
	require.Len(t, end.Stderr, maxStderr)
	require.True(t, strings.HasSuffix(end.Stderr, "nend\n"))
	require.Equal(t, "a", end.Answer)
}

// soon is long before the minute ends that agents of these tests sleep, also on a busy machine.
const soon = 20 * time.Second

// TestCommandIsStopped checks that a command that never ends is killed when its time is
// up, and that a child that left its process group is killed when the command ends.
func TestCommandIsStopped(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := commandOf(t, "hang").Run(ctx, start())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(begin), soon)
	require.NoDirExists(t, start().Folder)

	begin = time.Now()
	end, err := commandOf(t, "leave").Run(t.Context(), start())
	require.NoError(t, err)
	require.Less(t, time.Since(begin), soon)
	require.Equal(t, "42", end.Answer)
	if runtime.GOOS == "linux" {
		require.Regexp(t, `^process \d+ \(launch.test\) had left its group and was killed after its end$`, end.Leftover)
	}
}

func TestCommandsThatCannotRun(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent.py"), []byte("print(42)"), 0o644))
	for _, test := range []struct {
		name       string
		exec       external.Exec
		ready, run string
	}{
		{"no program", external.Exec{Command: []string{"no-such-program"}}, `start exec.command "no-such-program": exec: "no-such-program": executable file not found in $PATH; install it, or correct exec.command`, "; install it, or correct exec.command"},
		{"no file", external.Exec{Command: []string{"./none"}}, "no such file or directory; install it, or correct exec.command", "; install it, or correct exec.command"},
		{"no executable", external.Exec{Command: []string{"./agent.py"}}, "permission denied; make the program executable, or name its interpreter first", "permission denied; make the program executable"},
		{"a file that it cannot find", external.Exec{Command: []string{"sh", "agent.py"}}, `exec.command "sh agent.py": agent.py is a file beside the settings, but the command runs in a new folder; write ./agent.py, or set exec.cwd to "."`, ""},
		{"no script", external.Exec{Command: []string{"sh", "./none.sh"}}, "there is no file " + filepath.Join(dir, "none.sh") + "; write it, or correct exec.command", ""},
		{"no folder", external.Exec{Command: []string{"sh"}, Cwd: "none"}, "exec.cwd: there is no folder " + filepath.Join(dir, "none") + "; make it, or correct exec.cwd", "no such file or directory"},
		{"a long request", external.Exec{Command: []string{"echo", "{{request}}"}}, "", "argument list too long; let it read the request from standard input in place of {{request}}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS != "linux" {
				t.Skip("the words are those of Linux")
			}
			a, err := New(external.Settings{Exec: test.exec, Dir: dir}, Options{Lookup: os.LookupEnv})
			require.NoError(t, err)
			err = a.Ready(t.Context())
			if test.ready == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.ready)
			}
			if test.run != "" {
				s := start()
				s.Request = strings.Repeat("x", 1<<20)
				_, err = a.Run(t.Context(), s)
				require.ErrorContains(t, err, test.run)
				require.NoDirExists(t, start().Folder)
			}
		})
	}
}

// TestVariables checks that an unset variable is refused before anything runs, and so
// is a provider's key under any name.
func TestVariables(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"MINE": "sk-real", "OTHER": "x"}[name]
		return value, ok
	}
	o := Options{Lookup: lookup, Keys: []string{"sk-real", ""}}
	_, err := New(external.Settings{Exec: external.Exec{Command: []string{"sh"}, Env: []string{"NONE", "MINE", "OTHER"}}}, o)
	require.EqualError(t, err, "exec.env needs the environment variable NONE; set it, or take it out\n"+
		"exec.env hands on the variable MINE, which holds a provider's key; agents ask models through cupel's proxy, and need none")
	_, err = New(external.Settings{HTTP: external.HTTP{URL: "http://h", Headers: map[string]string{"A": "Bearer {{env.NONE}}", "B": "{{env.MINE}}", "C": "{{env.OTHER}} {{api_key}}"}}}, o)
	require.EqualError(t, err, "header A needs the environment variable NONE; set it, or take it out\n"+
		"header B hands on the variable MINE, which holds a provider's key; agents ask models through cupel's proxy, and need none")
}

// TestManyCommandsAtOnce runs 64 episodes in parallel with one agent.
func TestManyCommandsAtOnce(t *testing.T) {
	a := commandOf(t, "text")
	var wait sync.WaitGroup
	for i := range 64 {
		wait.Go(func() {
			s := start()
			s.Token, s.Folder = fmt.Sprintf("%s-%d", token, i), fmt.Sprintf("%s-%d", s.Folder, i)
			end, err := a.Run(t.Context(), s)
			if err != nil || end.Answer == "" {
				t.Errorf("episode %d: %v %+v", i, err, end)
			}
		})
	}
	wait.Wait()
}

// TestMarks checks that marks replace an episode's values everywhere, also within JSON.
func TestMarks(t *testing.T) {
	s := start()
	s.Base = "http://127.0.0.1:4100/e/" + token
	text, err := json.Marshal([]string{s.Base + "/x", start().Folder, "127.0.0.1:4101", "Bearer " + token})
	require.NoError(t, err)
	require.Equal(t, `["http://proxy.invalid/e/cupel-token/x","/cupel-folder","proxy.invalid","Bearer cupel-token"]`, strings.NewReplacer(Marks(s)...).Replace(string(text)))
	require.Empty(t, Marks(Start{}))
}

// TestNoInterpreter: a script whose interpreter is missing is told from one that is missing.
func TestNoInterpreter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no first lines of scripts on this system")
	}
	script := filepath.Join(t.TempDir(), "agent")
	require.NoError(t, os.WriteFile(script, []byte("#!/no/such\n"), 0o755))
	a, err := New(external.Settings{Exec: external.Exec{Command: []string{script}}}, Options{})
	require.NoError(t, err)
	_, err = a.Run(t.Context(), start())
	require.ErrorContains(t, err, "the interpreter that its first line names is not; install that, or correct the line")
}
