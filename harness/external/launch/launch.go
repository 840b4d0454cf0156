// Package launch runs external agents: it starts a command, or asks a running service, for
// one episode, and returns the answer. It does not know suites and tasks, so agents do not
// get their names.
package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/agent/strategy"
)

// Start is what an agent gets for one episode.
type Start struct {
	Request, Constraints string
	Inputs               map[string]json.RawMessage
	// AnswerSchema is the JSON Schema that the answer must fit; nil means a text.
	AnswerSchema json.RawMessage
	// SessionID is the same in all episodes of a session in a run, and otherwise of this
	// episode.
	SessionID string
	// History are the earlier tasks of the session.
	History []strategy.Exchange
	// Now and Zone are the world's clock: an instant in its time zone, and the zone's name.
	Now  time.Time
	Zone string
	// Base is the root of the model proxy for this episode, without /v1.
	Base string
	// Token is the key that the agent gets in place of a provider's.
	Token string
	// MCP is the address of the tools. Traces go to Base.
	MCP string
	// Refuse is the address of the proxy that refuses other hosts; empty sets none.
	Refuse string
	// Folder is the path, without links, of the folder that a command gets: Run makes it, and removes it at its end.
	Folder string
	// TraceParent is a W3C traceparent.
	TraceParent string
}

// End is how an episode of the agent ended.
type End struct {
	Answer string
	// Status is empty, or one of answered, clarify and cannot_proceed, as the agent said.
	Status string
	// Failure says in a sentence what the agent did wrong: its exit code, an empty or invalid
	// answer, an HTTP error. Empty means that it answered.
	Failure string
	// Stderr is the end of a command's standard error, at most 64 KiB.
	Stderr string
	// Leftover names, in a sentence, a process that outlived its command.
	Leftover string
}

// Agent runs episodes of one external agent. It is safe for concurrent use.
type Agent interface {
	// Ready waits until the agent can be run: the command is found, the service answers. It is
	// called once in a run. Its error says what to do.
	Ready(ctx context.Context) error
	// Run runs one episode, until ctx ends at the latest. An error is not the agent's doing: a
	// command that cannot be started, a credential that is not set, the end of ctx. Answer,
	// Failure and Stderr have fixed words in place of the episode's token, addresses and
	// folder.
	Run(ctx context.Context, s Start) (End, error)
}

// Options are what the agents of a run share.
type Options struct {
	// Lookup finds the environment variables that settings name, such as os.LookupEnv; nil
	// finds none.
	Lookup func(name string) (string, bool)
	// Keys are the values of the providers' keys: no agent gets a variable with one of them.
	Keys []string
}

// New returns the agent that the settings describe, which have no Faults. Its error names
// every variable that is not set, or that holds a provider's key.
func New(s external.Settings, o Options) (Agent, error) {
	if o.Lookup == nil {
		o.Lookup = func(string) (string, bool) { return "", false }
	}
	if len(s.Exec.Command) > 0 {
		return newCommand(s, o)
	}
	return newService(s, o)
}

// variable returns the value of a variable that an agent gets.
func (o Options) variable(name, setting string) (string, error) {
	value, ok := o.Lookup(name)
	switch {
	case !ok:
		return "", fmt.Errorf("%s needs the environment variable %s; set it, or take it out", setting, name)
	case value != "" && slices.Contains(o.Keys, value):
		return "", fmt.Errorf("%s hands on the variable %s, which holds a provider's key; agents ask models through cupel's proxy, and need none", setting, name)
	}
	return value, nil
}

// These words replace an episode's own values in everything that is matched or stored.
const (
	hostMark    = "proxy.invalid"
	tokenMark   = "cupel-token"
	sessionMark = "cupel-session"
	folderMark  = "/cupel-folder"
)

// Marks returns the hosts, the token, the session and the folder of an episode, each followed by the fixed
// word that replaces it, also within JSON. Two episodes that differ in nothing else then have
// the same texts.
func Marks(s Start) (pairs []string) {
	add := func(text, mark string) {
		if text == "" {
			return
		}
		pairs = append(pairs, text, mark)
		if escaped, err := json.Marshal(text); err == nil && len(escaped) != len(text)+2 {
			pairs = append(pairs, string(escaped[1:len(escaped)-1]), mark)
		}
	}
	for _, address := range []string{s.Base, s.MCP, s.Refuse} {
		if u, err := url.Parse(address); err == nil {
			add(u.Host, hostMark)
		}
	}
	add(s.Token, tokenMark)
	add(s.SessionID, sessionMark)
	add(s.Folder, folderMark)
	return pairs
}

// These are the limits of an agent's output, in bytes.
const (
	maxAnswer = 1 << 20
	maxStderr = 64 << 10
)

// taskInput is what an agent gets of its task, the same for commands and services.
type taskInput struct {
	Request      string                     `json:"request"`
	Inputs       map[string]json.RawMessage `json:"inputs"`
	Constraints  string                     `json:"constraints"`
	AnswerSchema json.RawMessage            `json:"answer_schema,omitempty"`
	SessionID    string                     `json:"session_id"`
	History      []exchange                 `json:"history"`
	Now          string                     `json:"now"`
	Zone         string                     `json:"zone"`
}

type exchange struct {
	Request string `json:"request"`
	Answer  string `json:"answer"`
}

func (s Start) taskInput() taskInput {
	h := taskInput{s.Request, s.Inputs, s.Constraints, s.AnswerSchema, s.SessionID, []exchange{}, s.Now.Format(time.RFC3339), s.Zone}
	if h.Inputs == nil {
		h.Inputs = map[string]json.RawMessage{}
	}
	for _, x := range s.History {
		h.History = append(h.History, exchange(x))
	}
	return h
}
