// Package toolserver describes the MCP servers whose tools a suite offers: what suite.yaml
// says of them, and the lists of tools that are pinned in tools.lock.json. Package session
// talks to them.
package toolserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/orchestrator/role"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/settings"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/lines"
)

// DefaultTimeout bounds the start of a server and each of its answers, unless
// Server.Timeout is set.
const DefaultTimeout = 30 * time.Second

// Server is an MCP server of a suite. It holds names of environment variables, never what
// is in them. Its JSON is what can change a result.
type Server struct {
	// Name is the server's name in the suite.
	Name string `yaml:"name"`
	// Command is the program and its arguments, which runs in Dir, the folder of the suite;
	// without one, URL is the address of a server that runs already, to which Headers are
	// sent.
	Command []string           `yaml:"command" json:",omitempty"`
	URL     string             `yaml:"url" json:",omitempty"`
	Headers []world.HTTPHeader `yaml:"headers" json:",omitempty"`
	Dir     string             `yaml:"-" json:"-"`
	// Env names the environment variables that Command and Reset get besides the ones that
	// every command gets.
	Env []string `yaml:"env" json:"-"`
	// Reset is a command that brings what the server acts on to its initial state, before
	// the server is started for an episode; empty means none.
	Reset []string `yaml:"reset" json:",omitempty"`
	// Timeout bounds Reset, the start and each answer.
	Timeout time.Duration `yaml:"timeout" json:"-"`
	// Tools are the offered ones; none means all that the server has.
	Tools []Mark `yaml:"tools" json:"-"`
	// Pinned is what the server listed when its tools were pinned.
	Pinned Pinned `yaml:"-" json:"-"`
}

// Mark is what a suite says of a tool of a server.
type Mark struct {
	Name string `yaml:"name"`
	// Write is nil if the suite does not say whether the tool changes something. Approve
	// is who decides about its calls; empty means that it follows from what is known.
	Write       *bool  `yaml:"write"`
	Approve     string `yaml:"approve"`
	Hint        string `yaml:"hint"`
	Repeatable  bool   `yaml:"repeatable"`
	Uncacheable bool   `yaml:"uncacheable"`
	place       yamlfile.Place
}

// The fields of a server and of a mark.
var (
	fields     = settings.Names(reflect.TypeFor[Server]())
	markFields = settings.Names(reflect.TypeFor[Mark]())
)

// Read reads a server of the suite in the folder dir.
func Read(p yamlfile.Place, dir string) Server {
	o := p.Object(fields)
	s := Server{Dir: dir, Timeout: DefaultTimeout}
	settings.Read[Server](o, slices.DeleteFunc(slices.Clone(fields), func(name string) bool { return name == "headers" || name == "tools" }))(&s)
	if p, ok := o.Need("name"); ok {
		p.CheckName(yamlfile.LowerName, s.Name)
	}
	switch {
	case o.Has("command") == o.Has("url"):
		o.Failf("needs either a command, such as [npx, -y, a-server], or a url")
	case o.Has("command") && (len(s.Command) == 0 || s.Command[0] == ""):
		o.FieldAt("command").Failf("must be a list of the program and its arguments, such as [npx, -y, a-server]")
	case o.Has("url"):
		u, err := url.Parse(s.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || yamlfile.SecretName.MatchString(u.RawQuery) {
			o.FieldAt("url").Failf("must be the address of a server, such as http://127.0.0.1:8931/mcp, without a credential; write one as a header with {env: NAME}")
		}
	}
	if p, ok := o.Get("headers"); ok {
		if s.Headers = Headers(p); o.Has("command") {
			p.Failf("only a server with a url gets headers; name variables in env")
		}
	}
	if o.Has("reset") && (len(s.Reset) == 0 || s.Reset[0] == "") {
		o.FieldAt("reset").Failf("must be a list of the program and its arguments, such as [sh, reset.sh]")
	}
	for i, name := range s.Env {
		if !yamlfile.EnvName.MatchString(name) {
			o.FieldAt("env").Item(i).Failf("must be the name of an environment variable, never its value")
		}
	}
	if s.Timeout <= 0 {
		o.FieldAt("timeout").Failf("must be more than 0")
	}
	if p, ok := o.Get("tools"); ok {
		s.Tools = marks(p)
	}
	return s
}

// maxHint bounds the hint of a tool, in characters: every prompt of the contract shows it.
const maxHint = 300

func marks(p yamlfile.Place) (all []Mark) {
	items := p.Items()
	if len(items) == 0 {
		p.Failf("must name a tool; leave it out to offer all tools of the server")
	}
	for _, item := range items {
		m := Mark{place: item}
		if item.IsMapping() {
			o := item.Object(markFields)
			o.Need("name")
			settings.Read[Mark](o, markFields)(&m)
			yamlfile.Read(o, "hint", &m.Hint, func(p yamlfile.Place) string { return p.Short(maxHint) })
			if p, ok := o.Get("approve"); ok {
				p.Choice("always", "ask", "never")
			}
		} else {
			m.Name = item.Filled()
		}
		if slices.ContainsFunc(all, func(b Mark) bool { return b.Name == m.Name }) {
			item.Failf("tool %s is here already", m.Name)
		}
		all = append(all, m)
	}
	return all
}

// Offer is a tool that a suite offers, with the place that says so.
type Offer struct {
	Spec tool.Spec
	// Approve is always, ask or never.
	Approve string
	Place   yamlfile.Place
}

// Offers returns the pinned tools that the suite offers, in the order of Tools or else of
// the server. p is where the suite describes the server.
func (s Server) Offers(p yamlfile.Place) (out []Offer) {
	var names []string
	listed := map[string]listedTool{}
	for _, text := range s.Pinned.Tools {
		var t listedTool
		_ = json.Unmarshal(text, &t) // the lock has been read
		listed[t.Name], names = t, append(names, t.Name)
	}
	offered := s.Tools
	if offered == nil {
		for _, name := range names {
			offered = append(offered, Mark{Name: name, place: p})
		}
	}
	for _, m := range offered {
		t, ok := listed[m.Name]
		if !ok {
			m.place.Failf("server %s has no tool %q%s; it has: %s", s.Name, m.Name, yamlfile.Suggest(m.Name, names), yamlfile.Listed(names))
			continue
		}
		m.place.CheckName(yamlfile.ToolName, m.Name)
		out = append(out, Offer{Place: m.place, Approve: m.approval(t), Spec: tool.Spec{
			Name: m.Name, Description: cmp.Or(t.Description, t.Title, m.Name), Schema: t.InputSchema,
			Hint: m.Hint, Repeatable: m.Repeatable, Uncacheable: m.Uncacheable, Group: role.MCP,
		}})
	}
	return out
}

// approval follows what the suite says, or else the server's annotation: a tool that is not
// known to change nothing asks.
func (m Mark) approval(t listedTool) string {
	reads := m.Write == nil && t.Annotations.ReadOnlyHint || m.Write != nil && !*m.Write
	switch {
	case m.Approve != "":
		return m.Approve
	case reads:
		return "always"
	}
	return "ask"
}

// Program is a command of the server, which messages call name: Command or Reset.
func (s Server) Program(name string, command []string, lookup func(string) (string, bool)) lines.Program {
	return lines.Program{Command: command, Dir: s.Dir, Env: s.Env, Lookup: lookup, Name: name, Setting: "mcp"}
}

// Variables are the names of the environment variables whose values are credentials.
func (s Server) Variables() []string {
	names := slices.Clone(s.Env)
	for _, h := range s.Headers {
		if h.Env != "" {
			names = append(names, h.Env)
		}
	}
	return names
}

// Title is the server's name and, if its tools are known, what it calls itself.
func (s Server) Title() string {
	if s.Pinned.Server == "" {
		return "server " + s.Name
	}
	return strings.TrimSpace(fmt.Sprintf("server %s (%s %s", s.Name, s.Pinned.Server, s.Pinned.Version)) + ")"
}

// String names the server in messages.
func (s Server) String() string {
	if s.URL != "" {
		return "the MCP server " + s.Name + " (" + s.URL + ")"
	}
	return s.Program("the MCP server "+s.Name, s.Command, nil).String()
}
