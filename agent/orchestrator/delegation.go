package orchestrator

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/orchestrator/role"
)

// delegation are the arguments of a delegate.
type delegation struct {
	Role         string          `json:"role"`
	Instructions string          `json:"instructions"`
	Tools        []string        `json:"tools"`
	Briefing     string          `json:"briefing"`
	Artifacts    json.RawMessage `json:"artifacts"`
	Context      string          `json:"conversationContext"`
}

// refused is why a call is not carried out: a code without a prefix, and a text.
type refused struct{ Code, Text string }

// readDelegation reads the arguments of a delegate and says the first thing that is wrong
// with them; nil if nothing is. group returns the group of a tool of the task, false if
// there is no such tool.
func readDelegation(args json.RawMessage, group func(tool string) (string, bool)) (delegation, *refused) {
	var d delegation
	_ = json.Unmarshal(args, &d) // which fits the schema of the tool
	failed := func(code, format string, a ...any) (delegation, *refused) {
		return d, &refused{code, "delegation failed: " + fmt.Sprintf(format, a...)}
	}
	for _, f := range []struct{ name, text string }{{"role", d.Role}, {"instructions", d.Instructions}, {"briefing", d.Briefing}} {
		if strings.TrimSpace(f.text) == "" {
			return failed("blank", "%q is blank", f.name)
		}
	}
	if len(d.Tools) == 0 {
		return failed("tools.empty", `"tools" must contain at least one tool name`)
	}
	for _, forbidden := range []struct {
		code string
		is   func(name string) bool
		text string
	}{
		{"tools.orchestration", isOwn, "cannot be delegated"},
		{"tools.mcp", in(group, role.MCP), "is an MCP tool, which cannot be delegated"},
		{"tools.forbidden", func(name string) bool {
			g, ok := group(name)
			return ok && !role.May(role.Delegate, g, name)
		}, "cannot be delegated: plan it, or do it yourself"},
		{"tools.unknown", func(name string) bool { _, ok := group(name); return !ok }, "is not a registered domain tool"},
	} {
		for _, name := range d.Tools {
			if forbidden.is(name) {
				return failed(forbidden.code, "%q %s", name, forbidden.text)
			}
		}
	}
	if len(d.Tools) > maxDelegateTools {
		return failed("tools.too_many", "%d tools; at most %d", len(d.Tools), maxDelegateTools)
	}
	return d, nil
}

func in(group func(string) (string, bool), want string) func(string) bool {
	return func(name string) bool {
		g, ok := group(name)
		return ok && g == want
	}
}
