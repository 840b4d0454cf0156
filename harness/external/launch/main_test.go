package launch

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/agent/strategy"
)

// TestMain runs an agent instead of the tests if the environment names one.
func TestMain(m *testing.M) {
	name := os.Getenv("CUPEL_TEST_AGENT")
	if name == "" {
		os.Exit(m.Run())
	}
	agents[name]()
}

// agents are the programs that a command can be.
var agents = map[string]func(){
	"echo": func() { // prints everything that it got
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		rest, _ := io.ReadAll(os.Stdin)
		cwd, _ := os.Getwd()
		config, _ := os.ReadFile(os.Getenv("CUPEL_MCP_CONFIG"))
		info, _ := os.Stat(os.Getenv("CUPEL_MCP_CONFIG"))
		folder, _ := os.Stat(".")
		text, _ := json.Marshal(map[string]any{
			"stdin": line, "end": err == nil && len(rest) == 0, "args": os.Args[1:], "env": os.Environ(), "cwd": cwd,
			"config": string(config), "mode": info.Mode().String(), "folder": folder.Mode().String(),
		})
		fmt.Println(string(text))
	},
	"text":     func() { fmt.Print("  42 angry messages\nin all \n") },
	"object":   func() { fmt.Println(`{"answer": "42", "status": "clarify"}`) },
	"value":    func() { fmt.Println(`{"answer": {"n": 42}}`) },
	"numbers":  func() { fmt.Println(`{"n": 12345678901234567890}`) },
	"binary":   func() { _, _ = os.Stdout.Write([]byte("a\xff")) },
	"nothing":  func() {},
	"blank":    func() { fmt.Println(`{"answer": " "}`) },
	"null":     func() { fmt.Println(`{"answer": null}`) },
	"half":     func() { fmt.Print(`{"answer": "4`) },
	"two":      func() { fmt.Print("{\"answer\": \"1\"}\n{\"answer\": \"2\"}\n") },
	"log":      func() { fmt.Print("starting\n{\"answer\": \"1\"}\n") },
	"trailing": func() { fmt.Print("{\"answer\": \"1\"}\ndone\n") },
	"status":   func() { fmt.Println(`{"answer": "1", "status": "fine"}`) },
	"html":     func() { fmt.Println("<!DOCTYPE html><html>") },
	"exit": func() {
		fmt.Fprintln(os.Stderr, "no model", os.Getenv("OPENAI_API_KEY"), os.Getenv("MCP_URL"))
		os.Exit(3)
	},
	"flood": func() {
		for {
			fmt.Println(strings.Repeat("x", 1<<12))
		}
	},
	"noise": func() {
		fmt.Fprintln(os.Stderr, strings.Repeat("n", 200<<10)+"end")
		fmt.Print("a")
	},
	"hang":   func() { ignore(); time.Sleep(time.Minute) },
	"secret": func() { fmt.Printf("%s %s %s", os.Getenv("OPENAI_API_KEY"), os.Getenv("OPENAI_BASE_URL"), wd()) },
	"leave": func() { // a descendant in a new session keeps the output open
		c := exec.Command(os.Args[0])
		c.Env, c.Stdout, c.SysProcAttr = append(os.Environ(), "CUPEL_TEST_AGENT=hang"), os.Stdout, leave
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Print("42")
	},
}

func wd() string { dir, _ := os.Getwd(); return dir }

// token is not that of another test process, whose commands are found by theirs.
var token = strings.ToLower(rand.Text())

// start returns what an episode gives to an agent.
func start() Start {
	zone := time.FixedZone("CEST", 2*60*60)
	temporary, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		panic(err)
	}
	return Start{
		Request: "How many?", Constraints: "Be brief.", Inputs: map[string]json.RawMessage{"n": json.RawMessage(`[1]`)}, SessionID: "s-1",
		History: []strategy.Exchange{{Request: "q", Answer: "a"}}, Now: time.Date(2026, 5, 13, 12, 0, 0, 0, zone), Zone: "Europe/Berlin",
		Base: "http://127.0.0.1:4100/e/" + token, Token: token, MCP: "http://127.0.0.1:4100/e/" + token + "/mcp",
		Folder: filepath.Join(temporary, "cupel-test-"+token[:10]), Refuse: "http://127.0.0.1:4101", TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
}

// commandOf returns an agent whose command is this test binary.
func commandOf(t testing.TB, name string, more ...string) Agent {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	a, err := New(external.Settings{Exec: external.Exec{Command: append([]string{self}, more...), Env: []string{"CUPEL_TEST_AGENT=" + name}}}, Options{Lookup: os.LookupEnv})
	require.NoError(t, err)
	return a
}
