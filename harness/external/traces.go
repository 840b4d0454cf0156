package external

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/mcphost"
	"github.com/cupel-eval/cupel/providers/gateway"
)

// maxTraced bounds a name that traces tell, in bytes.
const maxTraced = 100

// tell takes over what only the agent's traces know: other hosts, tools that it ran by itself,
// and calls of models beyond those at the proxy. Their tokens and costs count nowhere, because
// the proxy has those of its own requests.
func (e *End) tell(v *visit, world []string, calls []Call) {
	t := e.Traces
	clean := func(text string) string { return v.secrets.Redact("traces", v.fixed.Replace(text)) }
	for _, list := range [][]string{t.Agents, t.Tools, t.Hosts} {
		for i := range list {
			list[i] = clip.Bytes(clean(list[i]), maxTraced)
		}
	}
	t.Problem = clean(t.Problem)
	own := ""
	if u, err := url.Parse(v.Base()); err == nil {
		own = u.Hostname()
	}
	for _, host := range t.Hosts {
		if ip := net.ParseIP(host); host != own && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			e.Hosts = append(e.Hosts, host)
		}
	}
	e.Hosts = slices.Compact(slices.Sorted(slices.Values(e.Hosts)))
	for _, name := range t.Tools {
		if _, known := mcphost.Name(name, world); !known {
			e.OwnTools = append(e.OwnTools, name)
		}
	}
	e.PastProxy = t.ModelCalls
	for _, c := range calls {
		if c.Model != nil && c.Model.Kind == gateway.Chat {
			e.PastProxy--
		}
	}
	e.PastProxy = max(0, e.PastProxy)
}

// traced are the sentences of a transcript about traces.
func (e End) traced() (out []string) {
	t := e.Traces
	if t == nil {
		return nil
	}
	text := fmt.Sprintf("spans and log records in its traces: %d", t.Spans)
	if len(t.Agents) > 0 {
		text += ", of " + strings.Join(t.Agents, ", ")
	}
	out = append(out, text)
	if e.PastProxy > 0 {
		out = append(out, fmt.Sprintf("calls of models in its traces, beyond those at the proxy: %d", e.PastProxy))
	}
	if len(e.OwnTools) > 0 {
		out = append(out, "ran tools of its own: "+strings.Join(e.OwnTools, ", "))
	}
	if t.Refused > 0 {
		out = append(out, fmt.Sprintf("requests with traces that could not be read: %d, the first: %s", t.Refused, t.Problem))
	}
	return out
}
