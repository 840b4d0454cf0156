package cmd

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// programs are what the test binary runs as under another name. More of them are for Unix only.
var programs = map[string]func(){"cupel": func() { Main(App{}) }, "ask": askModel, "mcp-notes": serveNotes}

func TestMain(m *testing.M) {
	// Scripts that record wait for simulated latencies, so they run in parallel.
	if strings.HasSuffix(filepath.Base(os.Args[0]), ".test") { // not if the test binary runs as cupel
		flag.Parse()
	}
	if p := flag.Lookup("test.parallel"); p != nil && p.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", "8") // the value is valid
	}
	testscript.Main(m, programs)
}

// TestScripts runs one script per behaviour of the command line, each in a new folder without
// configuration and keys.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	runScripts(t, "script")
}

// TestSlowScripts runs the scripts that start the program often, or run many episodes. The sample is
// TestScripts, which has shorter ones of nearly every verb, and TestNoVerbGivesARunnerCommands, which
// calls all verbs.
func TestSlowScripts(t *testing.T) {
	testkit.Slow(t)
	runScripts(t, "slow")
}

// runScripts runs the scripts in a folder below testdata.
func runScripts(t *testing.T, folder string) {
	t.Helper()
	tasks := len(judged(t))
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", folder),
		UpdateScripts: os.Getenv("CUPEL_UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			// The number of tasks and episodes of the built-in suite.
			env.Setenv("TASKS", strconv.Itoa(tasks))
			env.Setenv("EPISODES", strconv.Itoa(4*tasks))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"serve":    serve,
			"script":   serveScript,
			"simulate": simulate,
			"expand":   expand,
			"cut":      cut,
			"edit":     edit,
			"restate":  restate,
			"seal":     seal,
			"newest":   newest,
			"digest":   digest,
		},
	})
}

// exits runs cupel and asserts its exit code: exits CODE ARGS…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("cupel", args[1:]...)
	got := 0
	if err != nil {
		var code int
		if _, scan := fmt.Sscanf(err.Error(), "exit status %d", &code); scan != nil {
			ts.Fatalf("cupel %s: %v", strings.Join(args[1:], " "), err)
		}
		got = code
	}
	if got != want {
		ts.Fatalf("cupel %s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// serve answers every request with one status and body, and sets $URL: serve STATUS BODY
func serve(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: serve STATUS BODY")
	}
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(args[1]))
	}))
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL)
}

// expand replaces $NAME of the script's environment in files: expand FILE…
func expand(ts *testscript.TestScript, _ bool, args []string) {
	for _, f := range args {
		text := os.Expand(ts.ReadFile(f), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(f), []byte(text), 0o644))
	}
}

// cut removes the last N bytes of a file: cut FILE N
func cut(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text[:len(text)-n]), 0o644))
}

// edit replaces the first occurrence of a text in a file: edit FILE OLD NEW
func edit(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o644))
}

// restate rewrites a run folder with a changed text in its run.json: restate RUN OLD NEW. With
// status running it writes only run.json.
func restate(ts *testscript.TestScript, _ bool, args []string) {
	path := filepath.Join(args[0], "run.json")
	text := ts.ReadFile(path)
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not contain %q", path, args[1])
	}
	var m manifest.Manifest
	ts.Check(json.Unmarshal([]byte(strings.Replace(text, args[1], args[2], 1)), &m))
	if m.Status == "running" {
		ts.Check(manifest.Write(ts.MkAbs(args[0]), m))
		return
	}
	rows, err := ledger.Read(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(ledger.Write(ts.MkAbs(args[0]), m, rows))
}

// seal seals the lines of a text file of a run folder: seal FILE
func seal(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	ts.Check(sealed.Write(ts.MkAbs(args[0]), func(w io.Writer) error { _, err := io.WriteString(w, text); return err }))
}

// newest sets $RUN to the run folder below a folder that was written last: newest RUNS
func newest(ts *testscript.TestScript, _ bool, args []string) {
	dir, err := rundir.Find(ts.MkAbs(args[0]), "latest")
	ts.Check(err)
	ts.Setenv("RUN", dir)
}

// digest asserts that two runs have the same ledger digest. Each argument is a run.json or an output
// of run --json: digest A B
func digest(ts *testscript.TestScript, _ bool, args []string) {
	var sums [2]string
	for i, f := range args {
		var out struct {
			LedgerDigest string `json:"ledger_digest"`
		}
		text := strings.TrimSpace(ts.ReadFile(f))
		if !strings.HasPrefix(text, "{\n") {
			text = text[strings.LastIndexByte(text, '\n')+1:]
		}
		ts.Check(json.Unmarshal([]byte(text), &out))
		sums[i] = out.LedgerDigest
	}
	if sums[0] == "" || sums[0] != sums[1] {
		ts.Fatalf("ledger digests differ: %s has %q, %s has %q", args[0], sums[0], args[1], sums[1])
	}
}
