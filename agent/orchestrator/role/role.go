// Package role says which tools the conversations of agent orchestrator may call: a matrix
// of roles and groups of tools, the same for plans, delegates and calls.
package role

import "strings"

// Role is a kind of conversation.
type Role string

// The roles, in the order of the matrix.
const (
	Orchestrator Role = "orchestrator"
	Delegate     Role = "delegate"
	Builder      Role = "builder"
	Tables       Role = "tables"
	Researcher   Role = "researcher"
)

// Groups of tools with a rule that depends on more than the group.
const (
	Orchestration = "orchestration" // tools of the strategy itself
	MCP           = "mcp"           // tools of an MCP server
	TableWrite    = "table-write"
	Ask           = "ask"
)

// setup begins the names of the tools of group credential that a builder may call.
const setup = "setup-"

var roles = []Role{Orchestrator, Delegate, Builder, Tables, Researcher}

// row is the line of the matrix of a group: for each role, in order, whether it may call
// the tools, 's' for those that begin with setup only.
type row struct{ group, title, may string }

var matrix = []row{
	{Orchestration, "orchestration", "y----"},
	{"workflow", "workflow", "yyy--"},
	{"execution", "execution", "yy---"},
	{"credential", "credential", "yys--"},
	{"node", "node discovery", "yyy--"},
	{"table-read", "table read", "yy-y-"},
	{TableWrite, "table write", "---y-"},
	{"workspace", "workspace", "yy---"},
	{"research", "research", "yy--y"},
	{"template", "templates, best practices", "yyy--"},
	{"sandbox", "sandbox", "--y--"},
	{Ask, "`ask-user`", "y----"},
	{MCP, "MCP", "y----"},
	{"", "any other", "yy---"},
}

// May reports whether conversations of a role may call the tool of that group and name. A
// group that the matrix does not have is one of ordinary tools.
func May(r Role, group, name string) bool {
	rule := lineOf(group).may
	for i, other := range roles {
		if other == r {
			return rule[i] == 'y' || rule[i] == 's' && strings.HasPrefix(name, setup)
		}
	}
	return false
}

func lineOf(group string) row {
	for _, l := range matrix {
		if l.group == group {
			return l
		}
	}
	return matrix[len(matrix)-1]
}
