package flowsim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/flowsim/table"
)

// The groups of the tools, by which roles of agents are offered them.
const (
	groupWorkflow   = "workflow"
	groupExecution  = "execution"
	groupCredential = "credential"
	groupNode       = "node"
	groupTableRead  = "table-read"
	groupTableWrite = "table-write"
	groupWorkspace  = "workspace"
	groupResearch   = "research"
	groupTemplate   = "template"
	groupSandbox    = "sandbox"
	groupAsk        = "ask"
	// groupBuild are the tools with which an orchestrator checks what its builders made.
	groupBuild = "orchestration"
)

// offer is a tool of the instance: what agents are told, and what it does.
type offer struct {
	name, group, description string
	args                     object
	do                       handler
}

// object is the schema of an object: its fields by name, those that end in ! are required.
type object map[string]string

// schema writes the JSON Schema.
func (o object) schema() string {
	names := slices.SortedFunc(maps.Keys(o), func(a, b string) int { return strings.Compare(strings.Trim(a, "!"), strings.Trim(b, "!")) })
	required, fields := []string{}, []string{}
	for _, name := range names {
		bare := strings.TrimSuffix(name, "!")
		if bare != name {
			required = append(required, bare)
		}
		fields = append(fields, fmt.Sprintf("%q:%s", bare, o[name]))
	}
	need := ""
	if len(required) > 0 {
		need = `,"required":` + string(must(required))
	}
	return `{"type":"object","properties":{` + strings.Join(fields, ",") + "}" + need + `,"additionalProperties":false}`
}

// The schemas of arguments.
const (
	idSchema   = `{"type":"string","minLength":1,"maxLength":128}`
	flagSchema = `{"type":"boolean"}`
	anyObject  = `{"type":"object"}`
)

func text(most int) string {
	return fmt.Sprintf(`{"type":"string","minLength":1,"maxLength":%d}`, most)
}

func anyText(most int) string { return fmt.Sprintf(`{"type":"string","maxLength":%d}`, most) }

func nullable(schema string) string { return `{"anyOf":[` + schema + `,{"type":"null"}]}` }

func whole(least, most, fallback int) string {
	return fmt.Sprintf(`{"type":"integer","minimum":%d,"maximum":%d,"default":%d}`, least, most, fallback)
}

func oneOf(words ...string) string { return `{"type":"string","enum":` + string(must(words)) + "}" }

func listOf(item string, least, most int) string {
	return fmt.Sprintf(`{"type":"array","items":%s,"minItems":%d,"maxItems":%d}`, item, least, most)
}

func described(schema, description string) string {
	return schema[:len(schema)-1] + `,"description":` + string(must(description)) + "}"
}

var filterSchema = described(object{"type": oneOf("and", "or"), "filters!": listOf(object{
	"columnName!": idSchema, "condition!": oneOf(table.Operators...), "value!": `{"type":["string","number","boolean","null"]}`,
}.schema(), 0, 20)}.schema(), "Which rows: conditions that are joined by and (the default) or or.")

var rowSchema = `{"type":"object","additionalProperties":{"type":["string","number","boolean","null"]}}`

// approval says who decides about a tool's calls, and how severe they are.
type approval struct{ who, severity string }

// approvals are those of the tools that do not run without asking.
var approvals = map[string]approval{
	"delete-credential":        {"ask", "destructive"},
	"delete-data-table":        {"ask", "destructive"},
	"delete-data-table-rows":   {"ask", "destructive"},
	"delete-folder":            {"ask", "destructive"},
	"delete-workflow":          {"ask", "warning"},
	"unarchive-workflow":       {"ask", "warning"},
	"publish-workflow":         {"ask", "warning"},
	"unpublish-workflow":       {"ask", "warning"},
	"run-workflow":             {"ask", "warning"},
	"restore-workflow-version": {"ask", "warning"},
	"stop-execution":           {"ask", "warning"},
	"delete-data-table-column": {"ask", "warning"},
	"setup-credentials":        {"ask", "info"},
	"setup-workflow":           {"ask", "info"},
	"fetch-url":                {"ask", "info"},
	"ask-user":                 {"ask", "info"},
}

// repeatable are the tools that an agent may call again with the same arguments: what they
// tell changes by itself.
var repeatable = []string{"get-execution", "list-executions"}

// offers are all tools, in the order in which agents are told of them.
var offers = slices.Concat(workflowTools, versionTools, executionTools, credentialTools, nodeTools, tableTools, workspaceTools, researchTools, otherTools, sandboxTools, buildTools)

var specs, handlers = func() (specs []tool.Spec, handlers map[string]handler) {
	handlers = map[string]handler{}
	for _, o := range offers {
		specs = append(specs, tool.Spec{
			Name: o.name, Description: o.description, Schema: json.RawMessage(o.args.schema()), Group: o.group,
			Approval: approvals[o.name].who, Severity: approvals[o.name].severity,
			Repeatable: slices.Contains(repeatable, o.name), Uncacheable: o.group != groupNode && o.group != groupTemplate,
		})
		handlers[o.name] = o.do
	}
	return specs, handlers
}()

// writers begin the names of the tools that may change the state.
var writers = []string{"add-", "apply-", "build-", "cleanup-", "create-", "delete-", "insert-", "move-", "publish-", "rename-", "restore-", "run-", "setup-", "stop-", "submit-", "tag-", "unarchive-", "unpublish-", "update-", "verify-", "write-"}

// Writes reports whether a tool may change the state: a plan keeps the order of such calls.
func (k kind) Writes(name string) bool {
	return slices.ContainsFunc(writers, func(verb string) bool { return strings.HasPrefix(name, verb) })
}
