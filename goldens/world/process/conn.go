package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/internal/clip"
)

// Bounds of a process.
const (
	maxLine   = MaxState + 64<<10 // bytes of one line
	maxOutput = 256 << 20         // bytes of standard output in an episode
	maxStderr = 2 << 10           // bytes of the end of standard error that is kept
	// grace is how long a process may take to end after its standard input was closed.
	grace = 500 * time.Millisecond
)

// inherited are the environment variables that every command gets, if they are set.
var inherited = []string{"PATH", "HOME", "TMPDIR", "SYSTEMROOT", "TEMP", "USERPROFILE", "PATHEXT"}

// fixed are the variables that have the same value on every machine, for equal bytes.
var fixed = []string{"LC_ALL=C.UTF-8", "TZ=UTC", "PYTHONHASHSEED=0", "PYTHONUTF8=1"}

// conn is a running process. Not safe for concurrent use.
type conn struct {
	kind   Kind
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	lines  *bufio.Reader
	stderr tail
	id     int   // of the last request
	read   int   // bytes of standard output so far
	broken error // why no further request can be made

	mu    sync.Mutex
	ended bool // it is being waited for, and must not be killed
}

// start starts the command and, for MCP, agrees on the protocol.
func start(ctx context.Context, k Kind) (*conn, error) {
	env, err := k.environ()
	if err != nil {
		return nil, err
	}
	if len(k.Command) == 0 {
		return nil, errors.New("start a world's process: no command; give process.command")
	}
	c := &conn{kind: k, cmd: exec.Command(k.Command[0], k.Command[1:]...)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr, c.cmd.WaitDelay = k.Dir, env, &c.stderr, grace
	ownGroup(c.cmd)
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s in %s: %w; install it, or correct process.command", k, k.Dir, err)
	}
	c.lines = bufio.NewReaderSize(c.out, 64<<10)
	if k.MCP {
		if err := c.initialize(ctx); err != nil {
			c.close(0)
			return nil, err
		}
	}
	return c, nil
}

// environ is the environment of the command.
func (k Kind) environ() ([]string, error) {
	env := append([]string{}, fixed...)
	for _, name := range inherited {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range k.Env {
		value, ok := "", false
		if k.Lookup != nil {
			value, ok = k.Lookup(name)
		}
		if !ok {
			return nil, fmt.Errorf("%s needs the environment variable %s; set it, or take it out of process.env", k, name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// reply is the answer to one request, as it is recorded.
type reply struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *refusal        `json:"error,omitempty"`
	Changed *bool           `json:"changed,omitempty"`
	Harm    string          `json:"harm,omitempty"`
}

// refusal is the error of a reply. Code is a text, or a number as in JSON-RPC.
type refusal struct {
	Code    any    `json:"code"`
	Message string `json:"message"`
}

var codePattern = regexp.MustCompile(`^[!-~]{1,64}$`)

// code is the code as models see it; E_WORLD represents one that is absent or not a word.
func (r refusal) code() string {
	if n, ok := r.Code.(float64); ok {
		return fmt.Sprintf("E_%.0f", n)
	}
	if text, _ := r.Code.(string); codePattern.MatchString(text) {
		return text
	}
	return "E_WORLD"
}

// ask makes one request and returns its reply as JSON. The first error ends the process.
func (c *conn) ask(ctx context.Context, method string, params json.RawMessage) ([]byte, error) {
	answer, err := c.translated(ctx, method, params)
	if err == nil && answer.Error == nil && answer.Result == nil {
		err = c.fail("answered %s with neither result nor error; answer {\"id\": …, \"result\": …}", method)
	}
	if err != nil {
		return nil, err
	}
	return encode(answer)
}

// encode writes JSON as short as it can be.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}

// translated makes a request in the command's protocol.
func (c *conn) translated(ctx context.Context, method string, params json.RawMessage) (reply, error) {
	if c.kind.MCP {
		return c.askMCP(ctx, method, params)
	}
	line, err := c.roundTrip(ctx, method, params)
	return line.reply, err
}

// message is a line in either direction.
type message struct {
	Version string          `json:"jsonrpc,omitempty"` // of MCP
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	reply
}

// roundTrip writes a request and reads its answer within the time allowed. When that is
// over the process is killed, which ends every read and write in progress.
func (c *conn) roundTrip(ctx context.Context, method string, params json.RawMessage) (message, error) {
	if c.broken != nil {
		return message{}, c.broken
	}
	c.id++
	m := message{ID: strconv.AppendInt(nil, int64(c.id), 10), Method: method, Params: params}
	if c.kind.MCP {
		m.Version = "2.0"
	}
	limited, cancel := context.WithTimeout(ctx, c.kind.Timeout)
	defer cancel()
	watch := context.AfterFunc(limited, c.kill)
	answer, err := c.exchange(m)
	if watch() && err == nil {
		return answer, nil
	}
	switch {
	case ctx.Err() != nil:
		c.broken = ctx.Err()
	case limited.Err() != nil:
		c.broken = c.fail("did not answer %s within %v; look what it waits for, or raise process.timeout", method, c.kind.Timeout)
	default:
		c.broken = err
	}
	c.close(0)
	return message{}, c.broken
}

// exchange writes a request and reads lines up to its answer.
func (c *conn) exchange(m message) (message, error) {
	if err := c.write(m); err != nil {
		return message{}, c.exited(m.Method)
	}
	for {
		text, err := c.line(m.Method)
		if err != nil {
			return message{}, err
		}
		var answer message
		if err := json.Unmarshal(text, &answer); err != nil {
			return message{}, c.fail("wrote %s in place of a line of JSON; write answers alone to standard output, all else to standard error", quote(text))
		}
		if c.kind.MCP && answer.Method != "" {
			if err := c.serve(answer); err != nil {
				return message{}, c.exited(m.Method)
			}
			continue
		}
		if !bytes.Equal(answer.ID, m.ID) {
			return message{}, c.fail("wrote %s in place of the answer to request %s (%s); answer each request once, with its id", quote(text), m.ID, m.Method)
		}
		return answer, nil
	}
}

func (c *conn) write(m any) error {
	line, err := encode(m)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(line, '\n'))
	return err
}

// line reads one line of standard output.
func (c *conn) line(method string) ([]byte, error) {
	var long []byte
	for {
		part, err := c.lines.ReadSlice('\n')
		c.read += len(part)
		switch {
		case len(long)+len(part) > maxLine:
			return nil, c.fail("wrote a line of more than %d MiB in answer to %s; return less, and leave out of the state what never changes", MaxState>>20, method)
		case c.read > maxOutput:
			return nil, c.fail("wrote more than %d MiB to standard output; return less", maxOutput>>20)
		case err == nil && long == nil:
			return part, nil
		}
		long = append(long, part...)
		if err == nil {
			return long, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, c.exited(method)
		}
	}
}

// exited is the error of a process that has ended, or has closed its input or output.
func (c *conn) exited(method string) error {
	c.close(grace)
	return c.fail("ended (%v) before it answered %s; run it by hand to see why", c.cmd.ProcessState, method)
}

// fail makes an error that names the command and what it said on standard error.
func (c *conn) fail(format string, args ...any) error {
	text := fmt.Sprintf("%s %s", c.kind, fmt.Sprintf(format, args...))
	c.close(0) // then standard error is complete
	if said := c.stderr.String(); said != "" {
		text += "; its standard error ends: " + said
	}
	return errors.New(text)
}

// kill ends the process and its children immediately, and what waits for its pipes. Safe for
// concurrent use.
func (c *conn) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		killGroup(c.cmd)
	}
	_ = c.in.Close()
	_ = c.out.Close()
}

// close ends the process: its standard input is closed, and it is killed with its children
// once it has closed its standard output, or the time allowed is over. Until Wait, no other
// process can get its number.
func (c *conn) close(allowed time.Duration) {
	if c.broken == nil {
		c.broken = fmt.Errorf("%s has ended", c.kind)
	}
	if c.cmd.ProcessState != nil {
		return
	}
	if allowed > 0 {
		_ = c.in.Close()
		watch := time.AfterFunc(allowed, c.kill)
		_, _ = io.Copy(io.Discard, c.out)
		watch.Stop()
	}
	c.kill()
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	_ = c.cmd.Wait() // its error is in ProcessState
}

// quote shows what a command wrote, in one line.
func quote(text []byte) string {
	return fmt.Sprintf("%q", clip.Bytes(strings.ToValidUTF8(string(bytes.TrimSpace(text)), "\uFFFD"), 200))
}

// tail keeps the end of what is written to it.
type tail struct{ end []byte }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.end = append(t.end, p[max(0, len(p)-maxStderr):]...)
	if n := len(t.end) - maxStderr; n > 0 {
		t.end = append(t.end[:0], t.end[n:]...)
	}
	return len(p), nil
}

// String is what was kept, in one line.
func (t *tail) String() string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(t.end), "")), " ")
}
