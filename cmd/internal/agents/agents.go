// Package agents says what `cupel doctor` finds out about external agents: whether their
// command or service can be reached, and which address a service gets.
package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/external/launch"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/recorder"
)

// wait bounds how long a service or an interpreter may take to answer.
const wait = 3 * time.Second

// Line is one line about an agent.
type Line struct{ Name, Text string }

// Inspect returns what is known of an external agent, and asks its service whether it is
// ready. lookup finds environment variables, keys are the values of the providers' keys.
func Inspect(ctx context.Context, s external.Settings, lookup func(string) (string, bool), keys []string) (lines []Line) {
	name, what := "command", strings.Join(s.Exec.Command, " ")
	if h, _ := s.Service(); h.URL != "" {
		name, what = "service", h.URL
	}
	what = clip.Bytes(what, 200)
	a, err := launch.New(s, launch.Options{Lookup: lookup, Keys: keys})
	if err == nil {
		limited, cancel := context.WithTimeoutCause(ctx, wait, errors.New("it was not ready within "+wait.String()))
		err = a.Ready(limited)
		cancel()
	}
	switch {
	case err != nil:
		lines = append(lines, Line{name, strings.ReplaceAll(err.Error(), "\n", "; ")})
	case name == "command":
		lines = append(lines, Line{name, what + version(ctx, s.Exec.Command[0])})
	default:
		lines = append(lines, Line{name, what + ", which answers"})
	}
	return append(lines, proxyLines(s, lookup)...)
}

func proxyLines(s external.Settings, lookup func(string) (string, bool)) (lines []Line) {
	if base := s.Proxy.Stable(""); base != "" && s.Proxy.TokenEnv != "" {
		if secret, ok := lookup(s.Proxy.TokenEnv); ok && secret != "" {
			base = s.Proxy.Stable(secret)
			lines = append(lines, Line{"base URL", base + "/v1"}, Line{"MCP", base + "/mcp"})
		} else {
			lines = append(lines, Line{"base URL", s.Proxy.TokenEnv + " is not set; set it to a secret of your own, such as 32 random letters"})
		}
	}
	if why := s.Alone(); why != "" {
		lines = append(lines, Line{"in turn", why})
	}
	if why := reachable(s); why != "" {
		lines = append(lines, Line{"warning", why})
	}
	return lines
}

// reachable says that an agent's proxy may be reached from elsewhere, or is empty.
func reachable(s external.Settings) string {
	if s.Proxy.Advertise == "" {
		return ""
	}
	return "programs outside of this machine may reach the model proxy at " + s.Proxy.Advertise
}

// Warn warns of every selected agent whose proxy may be reached from elsewhere in a run of o.
func Warn(w io.Writer, o harness.Options) {
	if (o.Mode == "" || o.Mode == recorder.Replay) && !o.WithAgent {
		return // no agent runs
	}
	for _, c := range o.Candidates {
		why := reachable(c.Settings)
		selected := len(o.Select.Candidates) == 0 || slices.ContainsFunc(o.Select.Candidates, func(pattern string) bool {
			ok, _ := path.Match(pattern, c.Name)
			return ok
		})
		if c.Agent == strategy.External && why != "" && selected {
			_, _ = fmt.Fprintf(w, "warning: candidate %s: %s\n", c.Name, why)
		}
	}
}

// interpreter matches programs whose version says what an agent runs on.
var interpreter = regexp.MustCompile(`^(python|node|deno|bun|ruby|java|php)[0-9.]*(\.exe)?$`)

// version is the version of an interpreter, with a comma before it; empty for other programs.
func version(ctx context.Context, program string) string {
	if !interpreter.MatchString(filepath.Base(program)) {
		return ""
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	cmd := exec.CommandContext(limited, program, "--version")
	cmd.Env, cmd.WaitDelay = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, wait
	text, err := cmd.CombinedOutput()
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if err != nil {
		return fmt.Sprintf(", but %s --version fails: %v", program, err)
	}
	return ", " + clip.Bytes(strings.ToValidUTF8(strings.TrimSpace(first), "\uFFFD"), 80)
}
