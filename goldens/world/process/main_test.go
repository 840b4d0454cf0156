package process

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cupel-eval/cupel/internal/lines"
)

// behaviour is the environment variable that selects the world that the test binary
// serves.
const behaviour = "CUPEL_TEST_WORLD"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviour); how != "" {
		serveWorld(how)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// AsWorld returns a kind whose command is this test binary.
func AsWorld(how string) Kind {
	return Kind{Command: []string{os.Args[0]}, Timeout: 20 * time.Second, Env: []string{behaviour}, Lookup: func(name string) (string, bool) {
		return how, name == behaviour
	}}
}

// counter is a world in which add changes a number.
type counter struct {
	out    *bufio.Writer
	mcp    bool
	N      int    `json:"n"`
	Seed   uint64 `json:"seed"`
	Now    string `json:"now"`
	ignore int
}

type asked struct {
	ID     json.RawMessage
	Method string
	Params struct {
		State     struct{ N int }
		Now, Zone string
		Seed      uint64
		Name      string
		Arguments struct{ By int }
		Meta      struct{ Now string } `json:"_meta"`
	}
}

// serveWorld runs in the helper process.
func serveWorld(how string) {
	if raw, ok := strings.CutPrefix(how, "raw:"); ok {
		text, _ := hex.DecodeString(raw)
		if in := bufio.NewReader(os.Stdin); true {
			if hello, _ := in.ReadString('\n'); strings.Contains(hello, `"initialize"`) {
				fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`)
				_, _ = in.ReadString('\n')
				_, _ = in.ReadString('\n')
			}
		}
		_, _ = os.Stdout.Write(text)
		return
	}
	w := &counter{out: bufio.NewWriter(os.Stdout), mcp: strings.HasPrefix(how, "mcp")}
	switch how {
	case "exits":
		fmt.Fprintln(os.Stderr, "Traceback:\n  no module named world")
		os.Exit(3)
	case "floods":
		for {
			_, _ = os.Stdout.WriteString(strings.Repeat("x", 1<<20))
		}
	case "hangs", "ignores":
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 32<<20)
	for in.Scan() {
		var r asked
		if json.Unmarshal(in.Bytes(), &r) != nil {
			os.Exit(4)
		}
		w.serve(how, r)
		_ = w.out.Flush()
	}
	if how == "ignores" {
		time.Sleep(time.Hour)
	}
}

func (w *counter) line(format string, args ...any) {
	_, _ = fmt.Fprintf(w.out, format+"\n", args...) // the reader may have ended
}

func (w *counter) serve(how string, r asked) {
	switch {
	case how == "hangs" && r.Method == "call":
		fmt.Fprintln(os.Stderr, "waiting for the database")
		time.Sleep(time.Hour)
	case how == "garbage" && r.Method == "call":
		w.line("Hello, world!")
	case how == "other id":
		w.line(`{"id":1%s,"result":1}`, r.ID)
	case how == "nothing":
		w.line(`{"id":%s}`, r.ID)
	case how == "no start":
		w.line(`{"id":%s,"error":{"code":"E_STATE","message":"state has no n"}}`, r.ID)
	case how == "large" && r.Method == "state":
		w.line(`{"id":%s,"result":"%s"}`, r.ID, strings.Repeat("x", MaxState))
	case how == "too large" && r.Method == "state":
		w.line(`{"id":%s,"result":"%s"}`, r.ID, strings.Repeat("x", lines.MaxLine))
	case how == "twice" && r.Method == "call":
		w.line(`{"id":%s,"result":{"a":1,"a":2}}`, r.ID)
	case how == "dies" && r.Method == "call", how == "dies second" && r.Params.Arguments.By == 2:
		os.Exit(7)
	case how == "mcp chatters" && r.Method == "tools/call":
		for {
			w.line(`{"jsonrpc":"2.0","method":"notifications/message","params":"%s"}`, strings.Repeat("x", 1<<16))
		}
	case how == "keeps" && r.Method == "reset" && w.Now != "": // only its first episode begins with what the suite gives
		w.line(`{"id":%s,"result":null}`, r.ID)
	case r.Method == "call" && (how == "random" || r.Params.Name == "pid"):
		w.line(`{"id":%s,"result":%d}`, r.ID, os.Getpid())
	case w.mcp:
		w.serveMCP(r)
	default:
		w.answer(r)
	}
}

func (w *counter) answer(r asked) {
	switch r.Method {
	case "reset":
		w.N, w.Seed, w.Now = r.Params.State.N, r.Params.Seed, r.Params.Now+" "+r.Params.Zone
		w.line(`{"id":%s,"result":null}`, r.ID)
	case "tools":
		w.line(`{"id":%s,"result":[{"name":"add","description":"Adds.","schema":{"type":"object"}}]}`, r.ID)
	case "state":
		text, _ := json.Marshal(w)
		w.line(`{"id":%s,"result":%s}`, r.ID, text)
	case "call":
		switch r.Params.Name {
		case "add":
			w.N += r.Params.Arguments.By
			w.line(`{"id":%s,"result":{"now":%q,"n":%d,"text":"<a> & b"}}`, r.ID, r.Params.Now, w.N)
		case "look":
			w.line(`{"id":%s,"result":%d,"changed":false}`, r.ID, w.N)
		case "steal":
			w.N = -1
			w.line(`{"id":%s,"result":true,"changed":true,"harm":"it was not theirs"}`, r.ID)
		case "environment":
			text, _ := json.Marshal(os.Environ())
			w.line(`{"id":%s,"result":%s}`, r.ID, text)
		case "spawn":
			w.line(`{"id":%s,"result":%q}`, r.ID, spawn())
		case "listen":
			listen()
		default:
			w.line(`{"id":%s,"error":{"code":"E_NO_TOOL","message":"no tool %s"}}`, r.ID, r.Params.Name)
		}
	}
}

// spawn starts a child that survives a polite end, and returns the address on which it
// listens.
func spawn() string {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), behaviour+"=plain")
	in, _ := child.StdinPipe()
	out, _ := child.StdoutPipe()
	_ = child.Start()
	_, _ = in.Write([]byte(`{"id":1,"method":"call","params":{"name":"listen"}}` + "\n"))
	address, _ := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(address)
}

func listen() {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(5)
	}
	fmt.Println(at.Addr())
	_, _ = at.Accept()
	time.Sleep(time.Hour)
}

func (w *counter) serveMCP(r asked) {
	out := func(format string, args ...any) {
		w.line(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, fmt.Sprintf(format, args...))
	}
	text := func(s string) string { quoted, _ := json.Marshal(s); return string(quoted) }
	switch r.Method {
	case "initialize":
		w.line(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}`)
		w.line(`{"jsonrpc":"2.0","id":"s1","method":"ping"}`)
		w.line(`{"jsonrpc":"2.0","id":"s2","method":"sampling/createMessage","params":{}}`)
		w.ignore = 3 // the answers to the two requests above, and the notification "initialized"
		out(`{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
	case "tools/list":
		out(`{"tools":[{"name":"add","description":"Adds.","inputSchema":{"type":"object"}}]}`)
	case "reset":
		w.N = r.Params.State.N
		out(`{}`)
	case "state":
		out(`{"n":%d}`, w.N)
	case "tools/call":
		switch r.Params.Name {
		case "structured":
			out(`{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":%d},"_meta":{"changed":false}}`, w.N)
		case "object":
			out(`{"content":[{"type":"text","text":%s}],"_meta":{"harm":"ouch"}}`, text(` {"now": "`+r.Params.Meta.Now+`"}`))
		case "text":
			out(`{"content":[{"type":"text","text":"{ plain"}]}`)
		case "parts":
			out(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`)
		case "refused":
			out(`{"content":[{"type":"text","text":"no seats"}],"isError":true}`)
		case "broken":
			out(`"text"`)
		default:
			w.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown tool"}}`, r.ID)
		}
	default: // answers to the server's own requests
		if w.ignore--; w.ignore < 0 {
			os.Exit(6)
		}
	}
}
