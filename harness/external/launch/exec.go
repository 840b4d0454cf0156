package launch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/internal/child"
	"github.com/cupel-eval/cupel/internal/clip"
)

// command is an agent that is a command.
type command struct {
	args, named []string // those that name files are absolute, and as they were written
	// said is the command as messages show it, and cwd empty for a new folder.
	said, cwd string
	// bare are arguments that name a file of dir, but that the command cannot find.
	bare []string
	env  []string // what does not depend on the episode
}

func newCommand(s external.Settings, o Options) (*command, error) {
	c := &command{args: slices.Clone(s.Exec.Command), named: s.Exec.Command, cwd: s.Exec.Cwd, said: fmt.Sprintf("%q", clip.Bytes(strings.Join(s.Exec.Command, " "), 200))}
	beside := func(path string) (string, error) {
		absolute, err := filepath.Abs(filepath.Join(s.Dir, filepath.FromSlash(path)))
		if err != nil {
			return "", fmt.Errorf("exec: find %s: %w", path, err)
		}
		return absolute, nil
	}
	var err error
	for i, arg := range c.args {
		slash := filepath.ToSlash(arg)
		switch {
		case filepath.IsAbs(arg):
		case strings.HasPrefix(slash, "./"), strings.HasPrefix(slash, "../"), i == 0 && strings.Contains(slash, "/"):
			if c.args[i], err = beside(arg); err != nil {
				return nil, err
			}
		case i > 0 && c.cwd == "" && arg != "":
			if info, err := os.Stat(filepath.Join(s.Dir, arg)); err == nil && info.Mode().IsRegular() {
				c.bare = append(c.bare, arg)
			}
		}
	}
	if c.cwd != "" && !filepath.IsAbs(c.cwd) {
		if c.cwd, err = beside(c.cwd); err != nil {
			return nil, err
		}
	}
	c.env = child.Environ(os.LookupEnv) // what Lookup finds may count as a credential
	if value := os.Getenv("LANG"); value != "" {
		c.env = append(c.env, "LANG="+value)
	}
	var errs []error
	for _, entry := range s.Exec.Env {
		if !strings.Contains(entry, "=") {
			value, err := o.variable(entry, "exec.env")
			if errs = append(errs, err); err != nil {
				continue
			}
			entry += "=" + value
		}
		c.env = append(c.env, entry)
	}
	return c, errors.Join(errs...)
}

// Ready implements Agent: the command and its working directory are there.
func (c *command) Ready(context.Context) error {
	if len(c.bare) > 0 {
		return fmt.Errorf("exec.command %s: %s is a file beside the settings, but the command runs in a new folder; write ./%[2]s, or set exec.cwd to \".\"", c.said, c.bare[0])
	}
	if c.cwd != "" {
		if info, err := os.Stat(c.cwd); err != nil || !info.IsDir() {
			return fmt.Errorf("exec.cwd: there is no folder %s; make it, or correct exec.cwd", c.cwd)
		}
	}
	if _, err := exec.LookPath(c.args[0]); err != nil {
		return c.cannotStart(err)
	}
	if len(c.args) > 1 && c.args[1] != c.named[1] { // the script of an interpreter
		if _, err := os.Stat(c.args[1]); err != nil {
			return fmt.Errorf("exec.command %s: there is no file %s; write it, or correct exec.command", c.said, c.args[1])
		}
	}
	return nil
}

func (c *command) cannotStart(err error) error {
	switch {
	case errors.Is(err, syscall.E2BIG):
		return fmt.Errorf("start exec.command %s: %w; let it read the request from standard input in place of {{request}}", c.said, err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("start exec.command %s: %w; make the program executable, or name its interpreter first", c.said, err)
	}
	if info, missing := os.Stat(c.args[0]); missing == nil && info.Mode().IsRegular() && errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("start exec.command %s: %w: the file is there, but the interpreter that its first line names is not; install that, or correct the line", c.said, err)
	}
	return fmt.Errorf("start exec.command %s: %w; install it, or correct exec.command", c.said, err)
}

// Run implements Agent.
func (c *command) Run(ctx context.Context, s Start) (end End, err error) {
	folder := s.Folder
	if err := os.Mkdir(folder, 0o700); err != nil {
		return End{}, fmt.Errorf("make the folder of an episode: %w", err)
	}
	config := filepath.Join(folder, ".cupel-mcp.json")
	defer func() {
		_ = os.Remove(config)
		if os.Remove(folder) != nil { // the command wrote files
			err = errors.Join(err, removeAll(folder))
		}
	}()
	if err := os.WriteFile(config, s.mcpConfig(), 0o600); err != nil {
		return End{}, fmt.Errorf("write the MCP configuration of an episode: %w", err)
	}
	args := slices.Clone(c.args)
	for i := range args[1:] {
		if m := external.Template.FindString(args[i+1]); m != "" && m == args[i+1] {
			args[i+1] = s.Request
		}
	}
	cwd := cmp.Or(c.cwd, folder)
	input, err := json.Marshal(s.taskInput())
	if err != nil {
		return End{}, fmt.Errorf("write the inputs of an episode: %w", err)
	}
	out, said := child.Bounded{Max: maxAnswer}, child.Tail{Max: maxStderr}
	p, err := child.Start(child.Command{
		Args: args, Dir: cwd, Env: slices.Concat(c.env, s.environ(config)), Mark: "OPENAI_API_KEY=" + s.Token,
		Stdin: bytes.NewReader(append(input, '\n')), Stdout: &out, Stderr: &said,
	})
	if err != nil {
		return End{}, c.cannotStart(err)
	}
	stop := context.AfterFunc(ctx, p.Kill)
	end.Leftover = p.Wait()
	stop()
	marks := strings.NewReplacer(Marks(s)...)
	end.Stderr = marks.Replace(said.String())
	text, refused := out.Bytes()
	switch state := p.State(); {
	case refused:
		end.Failure = fmt.Sprintf("the command wrote more than %d MiB to standard output; print the answer alone, and all else to standard error", maxAnswer>>20)
	case ctx.Err() != nil && !state.Success():
		return end, context.Cause(ctx)
	case !state.Success():
		end.Failure = fmt.Sprintf("the command ended with %v", state)
	default:
		end.read("the command", marks.Replace(strings.ToValidUTF8(string(text), "\uFFFD")))
	}
	return end, nil
}

// removeAll removes the folder of an episode. On Windows a file may be in use for a moment
// after its process has ended.
func removeAll(folder string) (err error) {
	for range 5 {
		if err = os.RemoveAll(folder); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("remove the folder of an episode: %w", err)
}

// mcpConfig is the server of the episode's tools, in the form that MCP clients read.
func (s Start) mcpConfig() []byte {
	type server struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	text, _ := json.Marshal(map[string]map[string]server{"mcpServers": {"cupel": {"http", s.MCP}}}) // texts always encode
	return append(text, '\n')
}

// environ is what a command gets for its episode: see external.OwnVariables.
func (s Start) environ(config string) []string {
	env := []string{
		"TZ=" + s.Zone,
		"MCP_URL=" + s.MCP, "CUPEL_MCP_CONFIG=" + config, "CUPEL_NOW=" + s.Now.Format(time.RFC3339),
		"TRACEPARENT=" + s.TraceParent, "OTEL_EXPORTER_OTLP_ENDPOINT=" + s.Base, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
		"OPENAI_AGENTS_DISABLE_TRACING=1",
	}
	for _, sdk := range external.SDKs {
		for _, name := range sdk.Bases {
			env = append(env, name+"="+external.Address(s.Base, sdk.Public))
		}
		for _, name := range sdk.Keys {
			env = append(env, name+"="+s.Token)
		}
	}
	if s.Refuse != "" {
		local := "127.0.0.1,localhost,::1"
		if u, err := url.Parse(s.Base); err == nil && !strings.Contains(local, u.Hostname()) {
			local += "," + u.Hostname()
		}
		env = append(env, "HTTPS_PROXY="+s.Refuse, "https_proxy="+s.Refuse, "NO_PROXY="+local, "no_proxy="+local, "NODE_USE_ENV_PROXY=1")
	}
	return env
}
