package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/internal/lines"
	"github.com/cupel-eval/cupel/internal/mcp"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// conn is a running process: one that speaks JSON lines, or an MCP server. Not safe for
// concurrent use.
type conn struct {
	kind   Kind
	cmd    *lines.Process
	mcp    *mcp.Client // nil for JSON lines
	id     int         // of the last request
	wrote  int         // bytes of answers
	broken error       // why no further request can be made
}

// program is the command as it is run.
func (k Kind) program() lines.Program {
	return lines.Program{Command: k.Command, Dir: k.Dir, Env: k.Env, Lookup: k.Lookup, Name: "the world's command", Setting: "process"}
}

// start starts the command and, for MCP, agrees on the protocol.
func start(ctx context.Context, k Kind) (*conn, error) {
	c := &conn{kind: k}
	var err error
	if len(k.Command) == 0 {
		return nil, errors.New("start a world's process: no command; give process.command")
	}
	if k.MCP {
		c.mcp, err = mcp.DialCommand(ctx, k.program(), k.Timeout)
	} else {
		c.cmd, err = k.program().Start()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
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

var codePattern = lazyregexp.New(`^[!-~]{1,64}$`)

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
	var answer reply
	var err error
	if c.mcp != nil {
		answer, err = askMCP(ctx, c.mcp, method, params)
		if _, ok := errors.AsType[*mcp.TimeoutError](err); ok {
			err = c.fail("did not answer %s within %v; look what it waits for, or raise process.timeout", method, c.kind.Timeout)
		}
	} else {
		answer, err = c.roundTrip(ctx, method, params)
	}
	if err == nil && answer.Error == nil && answer.Result == nil {
		err = c.fail("answered %s with neither result nor error; answer {\"id\": …, \"result\": …}", method)
	}
	if err != nil {
		return nil, err
	}
	return plainjson.Marshal(answer)
}

// message is a line in either direction.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	reply
}

// lessState is how the answers of worlds become shorter.
const lessState = "return less, and leave out of the state what never changes"

// roundTrip writes a request and reads its answer within the time allowed. When that is
// over the process is killed, which ends every read and write in progress.
func (c *conn) roundTrip(ctx context.Context, method string, params json.RawMessage) (reply, error) {
	if c.broken != nil {
		return reply{}, c.broken
	}
	c.id++
	limited, cancel := context.WithTimeout(ctx, c.kind.Timeout)
	defer cancel()
	watch := context.AfterFunc(limited, c.cmd.Kill)
	answer, err := c.exchange(message{ID: strconv.AppendInt(nil, int64(c.id), 10), Method: method, Params: params})
	if watch() && err == nil {
		return answer, nil
	}
	switch {
	case ctx.Err() != nil:
		c.broken = ctx.Err()
	case limited.Err() != nil:
		c.broken = c.cmd.Late(method, c.kind.Timeout)
	default:
		c.broken = err
	}
	c.cmd.Close(0)
	return reply{}, c.broken
}

// exchange writes a request and reads its answer.
func (c *conn) exchange(m message) (reply, error) {
	line, err := plainjson.Marshal(m)
	if err != nil {
		return reply{}, err
	}
	if err = c.cmd.Write(line); err == nil {
		line, err = c.cmd.Read()
		c.wrote += len(line)
	}
	if err != nil {
		return reply{}, c.cmd.Explain(err, m.Method, lessState)
	}
	var answer message
	if err := json.Unmarshal(line, &answer); err != nil {
		return reply{}, c.cmd.Garbage(line)
	}
	if !bytes.Equal(answer.ID, m.ID) {
		return reply{}, c.fail("wrote %s in place of the answer to request %s (%s); answer each request once, with its id", lines.Quote(line), m.ID, m.Method)
	}
	return answer.reply, nil
}

// fail ends the process with an error that names its command.
func (c *conn) fail(format string, args ...any) error {
	if c.mcp != nil {
		return c.mcp.Fail(format, args...)
	}
	c.broken = c.cmd.Fail(format, args...)
	return c.broken
}

// close ends the process.
func (c *conn) close() {
	if c.mcp != nil {
		c.mcp.Close()
		return
	}
	if c.broken == nil {
		c.broken = fmt.Errorf("%s has ended", c.kind)
	}
	c.cmd.Close(lines.Grace)
}
