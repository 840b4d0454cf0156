// Package external describes external agents: programs and services that decide outside of
// cupel, in a process of their own. It holds the settings of a candidate with agent:
// external, and what is wrong with them; it starts nothing.
package external

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Settings are the fields of a candidate that only agent external has. Exactly one of Exec,
// HTTP and N8N says how the agent is reached. A Settings is not changed after it was read,
// and is then safe for concurrent use.
type Settings struct {
	// Exec starts a command for every episode.
	Exec Exec `yaml:"exec,omitempty"`
	// HTTP asks a running service, N8N the webhook of an n8n workflow: the same fields with
	// other defaults, see Service.
	HTTP HTTP `yaml:"http,omitempty"`
	N8N  HTTP `yaml:"n8n,omitempty"`
	// Proxy fixes the address of the model proxy; zero means a free port of this machine.
	Proxy Proxy `yaml:"proxy,omitempty"`
	// Models maps names that the agent sends to models. Others go to the candidate's provider,
	// as its model if it has one, or else by the name that was sent.
	Models map[string]Model `yaml:"models,omitempty"`
	// Ignore are JSON pointers to members of model requests, Replace regular expressions of
	// texts in them, that do not identify a request.
	Ignore  []string `yaml:"ignore,omitempty"`
	Replace []string `yaml:"replace,omitempty"`
	// Correlate is how an episode's requests are known: ByURL (also if empty), ByKey,
	// ByTraceparent or ByNothing, which runs one episode at a time.
	Correlate string `yaml:"correlate,omitempty"`
	// Dir is the folder of the file that these settings are from: relative paths of Exec are
	// relative to it. It is in no digest.
	Dir string `yaml:"-"`
}

// The values of Settings.Correlate.
const (
	ByURL         = "url"
	ByKey         = "key"
	ByTraceparent = "traceparent"
	ByNothing     = "none"
)

// Alone says why episodes run one at a time; empty if they run at once.
func (s Settings) Alone() string {
	if s.Correlate != ByNothing {
		return ""
	}
	return "its episodes run one at a time, because correlate: none leaves nothing to tell their requests apart"
}

// Exec is a command that runs once for each episode.
type Exec struct {
	// Command is the program and its arguments, without a shell. {{request}} as a whole
	// argument is the task's request. What begins with ./ or ../ is relative to Settings.Dir.
	Command []string `yaml:"command,omitempty"`
	// Cwd is the working directory, relative to Settings.Dir; empty means a new folder for
	// each episode, removed at its end.
	Cwd string `yaml:"cwd,omitempty"`
	// Env has the names of variables that the command gets from cupel's environment, and
	// NAME=value for others.
	Env []string `yaml:"env,omitempty"`
}

// HTTP is a running service.
type HTTP struct {
	URL string `yaml:"url,omitempty"`
	// Method is POST unless set.
	Method string `yaml:"method,omitempty"`
	// Headers may have placeholders in their values, and {{env.NAME}} for credentials.
	Headers map[string]string `yaml:"headers,omitempty"`
	// Body is sent as JSON with its placeholders replaced, each a whole value; nil means all
	// of Placeholders by their names.
	Body any `yaml:"body,omitempty"`
	// Answer is a JSON pointer into the reply; empty means {"answer", "status"}, or text.
	Answer string `yaml:"answer,omitempty"`
	Stream Stream `yaml:"stream,omitempty"`
	Poll   Poll   `yaml:"poll,omitempty"`
	Ready  Ready  `yaml:"ready,omitempty"`
	// Conversation says who remembers the earlier tasks of a session: HistorySent (also if
	// empty) or OwnState, with which the service knows them by session_id.
	Conversation string `yaml:"conversation,omitempty"`
}

// The values of HTTP.Conversation.
const (
	HistorySent = "history"
	OwnState    = "own"
)

// Stream reads a reply of server-sent events or lines of JSON; the zero value reads no stream.
type Stream struct {
	// Delta is a JSON pointer into each event: the texts there make the answer.
	Delta string `yaml:"delta,omitempty"`
}

// Poll asks for an answer that is not in the first reply; the zero value does not.
type Poll struct {
	// URL may have placeholders {{/pointer}}, which are values of the first reply.
	URL string `yaml:"url,omitempty"`
	// Until is a JSON pointer, or POINTER=VALUE: the reply is complete once it has that value,
	// or without VALUE any but null, false and the empty string.
	Until string `yaml:"until,omitempty"`
	// Every is 1s and Timeout the time left to the episode, unless set.
	Every   time.Duration `yaml:"every,omitempty"`
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

// Ready says when a service may be asked; the zero value asks at once.
type Ready struct {
	// URL is requested until it answers as it should; it may be the service's own.
	URL string `yaml:"url,omitempty"`
	// Method is GET unless set; a probe has no body.
	Method string `yaml:"method,omitempty"`
	// Status is the status of a service that is ready; 0 means any below 500 except 404.
	Status int `yaml:"status,omitempty"`
	// Within bounds the wait; 0 means DefaultWithin.
	Within time.Duration `yaml:"within,omitempty"`
}

// DefaultWithin is how long a service may take to be ready.
const DefaultWithin = 60 * time.Second

// Proxy is where a service finds the model proxy.
type Proxy struct {
	// Listen is the host:port that is bound, Advertise the URL that agents get in its place,
	// such as one by which a container reaches this machine.
	Listen    string `yaml:"listen,omitempty"`
	Advertise string `yaml:"advertise,omitempty"`
	// TokenEnv names the environment variable with the secret of the stable URL /s/….
	TokenEnv string `yaml:"token_env,omitempty"`
}

// Model is what a model name of the agent means.
type Model struct {
	// Provider and Model are the candidate's provider and the name that was sent, unless set.
	Provider string `yaml:"provider,omitempty"`
	Model    string `yaml:"model,omitempty"`
	// MaxOutput is the output limit, in tokens, of requests that have none; 0 adds none.
	MaxOutput int `yaml:"max_output,omitempty"`
}

// Placeholders are the names that may be written as {{name}} in the body of a request to a
// service.
var Placeholders = []string{"request", "constraints", "inputs", "answer_schema", "session_id", "history", "now", "zone",
	"base_url", "openai_base_url", "api_key", "mcp_url", "traceparent"}

// Fields are the names of the settings, in the order of Settings.
var Fields = []string{"exec", "http", "n8n", "proxy", "models", "ignore", "replace", "correlate"}

// Set returns the names of the settings that are given.
func (s Settings) Set() (names []string) {
	given := []bool{
		len(s.Exec.Command) > 0 || s.Exec.Cwd != "" || s.Exec.Env != nil, s.HTTP.set(), s.N8N.set(), s.Proxy != Proxy{},
		s.Models != nil, s.Ignore != nil, s.Replace != nil, s.Correlate != "",
	}
	return slices.DeleteFunc(slices.Clone(Fields), func(name string) bool { return !given[slices.Index(Fields, name)] })
}

// Variables returns the names of the environment variables whose values an agent, its service
// or the address of its proxy is given, sorted. They may be credentials.
func (s Settings) Variables() (names []string) {
	for _, entry := range s.Exec.Env {
		if !strings.Contains(entry, "=") {
			names = append(names, entry)
		}
	}
	h, _ := s.Service()
	for _, value := range h.Headers {
		for _, m := range Template.FindAllStringSubmatch(value, -1) {
			if name, ok := strings.CutPrefix(m[1], "env."); ok {
				names = append(names, name)
			}
		}
	}
	if s.Proxy.TokenEnv != "" {
		names = append(names, s.Proxy.TokenEnv)
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// Stable returns the base URL that is the same in every run; empty without a fixed address.
func (p Proxy) Stable(secret string) string {
	base := strings.TrimRight(p.Advertise, "/")
	if base == "" && p.Listen != "" {
		base = "http://" + p.Listen
	}
	if base == "" {
		return ""
	}
	return base + "/s/" + url.PathEscape(secret)
}

// Beside sets Dir where a command could be relative to it.
func (s *Settings) Beside(dir string) {
	if s.Exec.Command != nil {
		s.Dir = dir
	}
}

func (h HTTP) set() bool {
	return h.URL != "" || h.Method != "" || h.Headers != nil || h.Body != nil || h.Answer != "" || h.Conversation != "" ||
		h.Stream != Stream{} || h.Poll != Poll{} || h.Ready != Ready{}
}

// Service returns the service to ask with its defaults filled in, and whether it is one of
// n8n; its URL is empty for a command. The defaults of N8N are its own: the placeholders, and chatInput
// and sessionId as a chat trigger names them, for the body, and the agent's output for the answer.
func (s Settings) Service() (h HTTP, n8n bool) {
	h = s.HTTP
	if s.N8N.set() {
		h, n8n = s.N8N, true
	}
	if h.URL == "" {
		return h, n8n
	}
	h.Method = cmp.Or(h.Method, "POST")
	if h.Conversation == "" {
		h.Conversation = HistorySent
	}
	if h.Body == nil && h.Method != get {
		body := map[string]any{}
		for _, name := range Placeholders {
			if name != "history" || h.Conversation == HistorySent {
				body[name] = "{{" + name + "}}"
			}
		}
		if n8n {
			body["chatInput"], body["sessionId"] = "{{request}}", "{{session_id}}"
		}
		h.Body = body
	}
	if n8n && h.Answer == "" && h.Stream.Delta == "" {
		h.Answer = "/output"
	}
	if n8n && h.Ready.URL == "" {
		h.Ready.URL = h.URL
	}
	h.Ready.Within = cmp.Or(h.Ready.Within, DefaultWithin)
	return h, n8n
}

// Digestible returns what of the settings can change a result, for digests; nil if nothing
// is set. Addresses without their paths, waits, the proxy's address and the rules that match
// requests are left out.
func (s Settings) Digestible() any {
	if len(s.Set()) == 0 {
		return nil
	}
	s.Dir, s.Proxy, s.Ignore, s.Replace = "", Proxy{}, nil, nil
	for _, h := range []*HTTP{&s.HTTP, &s.N8N} {
		h.URL, h.Poll.URL, h.Ready = pathOf(h.URL), pathOf(h.Poll.URL), Ready{}
		h.Poll.Every, h.Poll.Timeout = 0, 0
	}
	return s
}

// get is the method of a request without a body.
const get = "GET"

// pathOf is an address without scheme and host.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Scheme, u.Host = "", ""
	return u.String()
}

// Shown returns the settings as names and texts for people, in order. Headers and bodies are
// left out.
func (s Settings) Shown() (out [][2]string) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	if len(s.Exec.Command) > 0 {
		text, _ := json.Marshal(s.Exec.Command) // texts always encode
		add("exec.command", string(text))
	}
	add("exec.cwd", s.Exec.Cwd)
	add("exec.env", strings.Join(s.Exec.Env, " "))
	add("http.url", s.HTTP.URL)
	add("n8n.url", s.N8N.URL)
	if s.Models != nil {
		text, _ := json.Marshal(s.Models)
		add("models", string(text))
	}
	add("correlate", s.Correlate)
	return out
}
