package flowsim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
)

// step is one call of a scenario: what its value contains, or the code that refuses it.
type step struct{ name, args, want string }

// play makes the calls one after another.
func (s *session) play(steps []step) {
	for i, c := range steps {
		e := s.call(c.name, c.args)
		got := e.Code
		if e.Outcome == tool.OK {
			got = string(e.Value)
		}
		require.Contains(s.t, got, c.want, "step %d: %s {%s}: %s", i+1, c.name, c.args, e.Message)
		require.Equal(s.t, e.Outcome != tool.OK, strings.HasPrefix(c.want, "E_") || c.want == "draft_changed", "step %d: %s", i+1, got)
	}
}

func TestTools(t *testing.T) {
	for name, steps := range map[string][]step{
		"list workflows": {
			{"list-workflows", "", `{"workflows":[{"activeVersionId":"ver_1","createdAt":"2026-01-01T00:00:00.000Z","id":"wf_1","isArchived":false,"name":"Daily report","updatedAt":"2026-01-01T00:00:00.000Z"},{"activeVersionId":"ver_3"`},
			{"list-workflows", "query: REPORT", `"id":"wf_1"`},
			{"list-workflows", "limit: 1", `2 more workflows match`},
			{"list-workflows", "status: archived", `"id":"wf_4"`},
			{"list-workflows", "status: all, query: nothing", `{"workflows":[]}`},
		},
		"read a workflow": {
			{"get-workflow", "workflowId: wf_2", `"activeVersionId":"ver_3","connections":{"Form":[[{"node":"Keep","input":0}]]},"id":"wf_2","isArchived":false,"name":"Sign up","nodes":[{"name":"Form"`},
			{"get-workflow", "workflowId: ../x", `{"availableWorkflows":[{"id":"wf_1","name":"Daily report"},{"id":"wf_2","name":"Sign up"},{"id":"wf_3","name":"Slow"}],"found":false`},
			{"get-workflow-as-code", "workflowId: wf_9", `"found":false`},
			{"get-workflow-as-code", "workflowId: wf_2", `"code":"{\n  \"name\": \"Sign up\"`},
		},
		"archive": {
			{"delete-workflow", "workflowId: wf_1", `{"success":true}`},
			{"get-workflow", "workflowId: wf_1", `"activeVersionId":null`},
			{"run-workflow", "workflowId: wf_1", "E_ARCHIVED"},
			{"unarchive-workflow", "workflowId: wf_1", `{"success":true}`},
			{"get-workflow", "workflowId: wf_1", `"activeVersionId":null`},
			{"delete-workflow", "workflowId: wf_9", "E_NOT_FOUND"},
			{"publish-workflow", "workflowId: wf_4", "E_NO_TRIGGER"},
		},
		"publish": {
			{"publish-workflow", "workflowId: wf_1", `{"activeVersionId":"ver_2","success":true}`},
			{"publish-workflow", "workflowId: wf_1, versionId: ver_1", `{"activeVersionId":"ver_1","success":true}`},
			{"publish-workflow", "workflowId: wf_1, versionId: ver_9", "E_NOT_FOUND"},
			{"publish-workflow", "workflowId: wf_3", "E_NO_TRIGGER"},
			{"unpublish-workflow", "workflowId: wf_1", `{"success":true}`},
			{"delete-credential", "credentialId: cr_1", `{"success":true}`},
			{"publish-workflow", "workflowId: wf_1", "E_NOT_PUBLISHABLE"},
			{"setup-workflow", "workflowId: wf_1", `{"completedNodes":["Tell"],"failedNodes":[],"skippedNodes":[]}`},
			{"setup-workflow", "workflowId: wf_1", `{"completedNodes":[],"failedNodes":[],"skippedNodes":["Tell"]}`},
			{"publish-workflow", "workflowId: wf_1", `"success":true`},
		},
		"versions": {
			{"list-workflow-versions", "workflowId: wf_1", `{"versions":[{"authors":"the user","autosaved":false,"createdAt":"2026-01-01T00:00:00.000Z","description":null,"isActive":false,"isCurrentDraft":true,"name":null,"versionId":"ver_2"},{`},
			{"list-workflow-versions", "workflowId: wf_1, skip: 1, limit: 1", `"name":"first","versionId":"ver_1"}]`},
			{"update-workflow-version", "workflowId: wf_1, versionId: ver_1, name: null, description: the old one", `{"success":true}`},
			{"get-workflow-version", "workflowId: wf_1, versionId: ver_1", `"description":"the old one","isActive":true,"isCurrentDraft":false,"name":null,"nodes":[{"name":"Every day"`},
			{"restore-workflow-version", "workflowId: wf_1, versionId: ver_1", `{"success":true}`},
			{"list-workflow-versions", "workflowId: wf_1, limit: 1", `"authors":"agent","autosaved":false,"createdAt":"2026-05-13T12:00:00.000Z"`},
			{"get-workflow-version", "workflowId: wf_1, versionId: __proto__", "E_NOT_FOUND"},
		},
		"credentials": {
			{"list-credentials", "", `{"credentials":[{"createdAt":"2026-01-01T00:00:00.000Z","id":"cr_1","name":"Team Slack","type":"slackApi","updatedAt":"2026-01-01T00:00:00.000Z"},{`},
			{"list-credentials", "type: smtp", `{"credentials":[{"createdAt":"2026-01-01T00:00:00.000Z","id":"cr_2"`},
			{"list-credentials", "limit: 1", "there are more credentials"},
			{"get-credential", "credentialId: cr_1", `"nodesWithAccess":["slack"]`},
			{"get-credential", "credentialId: cr_9", "E_NOT_FOUND"},
			{"test-credential", "credentialId: cr_1", `{"success":true}`},
			{"test-credential", "credentialId: cr_2", `"success":false`},
			{"search-credential-types", "query: slack http", `{"credentialTypes":[{"description":"Slack, by a bot token","displayName":"Slack, by a bot token","name":"slackApi"}]}`},
			{"setup-credentials", "credentialType: smtp", `{"credentialId":"cr_3","credentialType":"smtp"}`},
			{"setup-credentials", "credentialType: nothing", "E_NOT_FOUND"},
			{"delete-credential", "credentialId: cr_2", `{"success":true}`},
			{"delete-credential", "credentialId: cr_2", "E_NOT_FOUND"},
		},
		"nodes": {
			{"list-nodes", "query: slack", `{"nodes":[{"description":"sends a Slack message for each item","displayName":"slack","group":"action","name":"slack","version":2}]}`},
			{"get-node-description", "nodeType: slack", `{"credentials":["slackApi"]`},
			{"get-node-description", "nodeType: slak", "E_NOT_FOUND"},
			{"get-node-type-definition", "nodeTypes: [if, merge]", `{"definitions":[{"name":"if"`},
			{"get-node-type-definition", "nodeTypes: [if, code]", "E_NOT_FOUND"},
			{"search-nodes", "query: merge branches", `{"nodes":[{"credentials":null,"description":"joins two branches; waits for both","discriminators":{"join":["inner","left","outer"],"mode":`},
			{"get-suggested-nodes", "categories: [chat, form]", `"category":"form"`},
			{"explore-node-resources", "nodeType: slack, resource: channels", "E_NO_CREDENTIAL"},
			{"explore-node-resources", "nodeType: slack, resource: channels, credentialId: cr_2", "E_NO_CREDENTIAL"},
			{"explore-node-resources", "nodeType: slack, resource: channels, credentialId: cr_1", `{"resources":[{"id":"C1","name":"#shop"}]}`},
			{"explore-node-resources", "nodeType: slack, resource: users, credentialId: cr_1", "E_NOT_FOUND"},
		},
		"tables": {
			{"list-data-tables", "", `{"dataTables":[{"columns":[{"name":"email","type":"string"}`},
			{"create-data-table", "name: Orders, columns: []", "E_NAME_IN_USE"},
			{"create-data-table", "name: People, columns: [{name: id, type: string}]", "E_RESERVED"},
			{"create-data-table", "name: People, columns: [{name: __proto__, type: string}]", "E_BAD_ARGS"},
			{"create-data-table", "name: People, columns: [{name: name, type: string}]", `{"columns":[{"name":"name","type":"string"}],"id":"dt_2","name":"People","rowCount":0}`},
			{"insert-data-table-rows", "dataTableId: dt_2, rows: [{name: Ada}, {nam: Bob}]", "E_UNKNOWN_COLUMN"},
			{"insert-data-table-rows", "dataTableId: dt_2, rows: [{name: Ada}, {name: 7}]", "E_BAD_TYPE"},
			{"insert-data-table-rows", "dataTableId: dt_2, rows: [{name: Ada}, {name: null}]", `{"ids":["row_4","row_5"],"insertedCount":2}`},
			{"query-data-table-rows", "dataTableId: dt_1, filter: {filters: [{columnName: total, condition: gte, value: 10}]}", `{"count":2,"rows":[{"createdAt":"2026-01-01T00:00:00Z","email":"a@shop.test","id":"row_1","paid":true,"placed":"2026-05-01","total":10,"updatedAt":"2026-01-01T00:00:00Z"},{`},
			{"query-data-table-rows", "dataTableId: dt_1, limit: 1, offset: 1", `{"count":3,"rows":[{"createdAt":"2026-01-01T00:00:00Z","email":"b@shop.test"`},
			{"query-data-table-rows", "dataTableId: dt_9", "E_NOT_FOUND"},
			{"update-data-table-rows", "dataTableId: dt_1, filter: {type: or, filters: [{columnName: paid, condition: eq, value: null}, {columnName: paid, condition: eq, value: false}]}, data: {paid: true}", `{"updatedCount":2}`},
			{"update-data-table-rows", "dataTableId: dt_1, filter: {filters: []}, data: {paid: true}", "E_NO_FILTER"},
			{"update-data-table-rows", "dataTableId: dt_1, filter: {filters: [{columnName: id, condition: eq, value: row_1}]}, data: {id: row_2}", "E_RESERVED"},
			{"delete-data-table-rows", "dataTableId: dt_1, filter: {filters: []}", "E_NO_FILTER"},
			{"delete-data-table-rows", "dataTableId: dt_1, filter: {filters: [{columnName: email, condition: like, value: '%@shop.test'}, {columnName: total, condition: lt, value: 8}]}", `{"deletedCount":1}`},
			{"add-data-table-column", "dataTableId: dt_1, columnName: note, type: string", `{"success":true}`},
			{"add-data-table-column", "dataTableId: dt_1, columnName: note, type: string", "E_NAME_IN_USE"},
			{"rename-data-table-column", "dataTableId: dt_1, columnName: note, newName: createdAt", "E_RESERVED"},
			{"rename-data-table-column", "dataTableId: dt_1, columnName: note, newName: remark", `{"success":true}`},
			{"delete-data-table-column", "dataTableId: dt_1, columnName: note", "E_UNKNOWN_COLUMN"},
			{"delete-data-table-column", "dataTableId: dt_1, columnName: remark", `{"success":true}`},
			{"get-data-table-schema", "dataTableId: dt_1", `"rowCount":2`},
			{"delete-data-table", "dataTableId: dt_1", `{"success":true}`},
			{"delete-data-table", "dataTableId: dt_1", "E_NOT_FOUND"},
		},
		"workspace": {
			{"list-projects", "", `{"projects":[{"id":"pr_1","name":"Shop"}]}`},
			{"tag-workflow", "workflowId: wf_2, tags: [weekly, daily, weekly]", `{"success":true,"tags":["weekly","daily"]}`},
			{"list-tags", "", `{"tags":[{"id":"tg_1","name":"daily"},{"id":"tg_2","name":"weekly"}]}`},
			{"list-folders", "", `{"folders":[{"id":"fd_1","name":"Old","parentFolderId":null,"projectId":"pr_1"},{"id":"fd_2","name":"Reports","parentFolderId":"fd_1","projectId":"pr_1"}]}`},
			{"create-folder", "name: Reports, parentFolderId: fd_1", "E_NAME_IN_USE"},
			{"create-folder", "name: Reports", `{"id":"fd_3","name":"Reports"}`},
			{"move-workflow-to-folder", "workflowId: wf_2, folderId: fd_3", `{"success":true}`},
			{"move-workflow-to-folder", "workflowId: wf_2, folderId: fd_9", "E_NOT_FOUND"},
			{"delete-folder", "folderId: fd_1, transferToFolderId: fd_2", "E_BAD_ARGS"},
			{"delete-folder", "folderId: fd_2, transferToFolderId: fd_3", `{"success":true}`},
			{"move-workflow-to-folder", "workflowId: wf_2, folderId: null", `{"success":true}`},
		},
		"research": {
			{"web-search", "query: slack bot token", `{"query":"slack bot token","results":[{"publishedDate":"2026-01-02","snippet":"<untrusted_data>\nUse a bot token. Channels`},
			{"web-search", "query: slack, includeDomains: [other.test]", `"results":[]`},
			{"fetch-url", "url: 'https://help.test/old'", `{"content":"<untrusted_data>\nUse a bot token.  Channels begin with #.\n</untrusted_data>","contentLength":40,"finalUrl":"https://help.test/slack","safetyFlags":["comments_removed"],"title":"Slack help","truncated":false,"url":"https://help.test/old"}`},
			{"fetch-url", "url: 'https://help.test/slack', maxContentLength: 5", `"content":"<untrusted_data>\nUse a\n</untrusted_data>","contentLength":40`},
			{"fetch-url", "url: 'https://help.test/away'", "E_REDIRECT"},
			{"fetch-url", "url: 'http://169.254.169.254/latest'", "E_PRIVATE_ADDRESS"},
			{"fetch-url", "url: 'file:///etc/passwd'", "E_BAD_URL"},
			{"fetch-url", "url: 'https://help.test/none'", "E_NOT_FOUND"},
			{"get-best-practices", "technique: webhook", `"technique":"webhook"`},
			{"get-best-practices", "technique: magic", "E_NOT_FOUND"},
		},
		"ask": {
			{"ask-user", "question: 'What is your API key?', type: text", "E_SECRET_REQUEST"},
			{"ask-user", "question: 'Which?', type: single", "E_BAD_ARGS"},
			{"ask-user", "question: 'Which?', type: multi, options: [A, Other.]", "E_BAD_ARGS"},
			{"ask-user", "question: 'Which?', type: single, options: [A, B]", "E_NO_ANSWER"},
		},
		"sandbox": {
			{"write-sandbox-file", "path: ../x, content: a", "E_PATH"},
			{"write-sandbox-file", "path: /etc/x, content: a", "E_PATH"},
			{"write-sandbox-file", "path: a/./b, content: a", "E_PATH"},
			{"write-sandbox-file", `path: a.json, content: '{"name": "Made", "nodes": [{"name": "Go", "type": "manual", "parameters": {}}], "connections": {}}'`, `"success":true`},
			{"submit-workflow", "path: b.json", "E_NOT_FOUND"},
			{"submit-workflow", "path: a.json", `{"nodes":["Go"],"workflowId":"wf_5"}`},
			{"materialize-node-type", "nodeType: if", `"path":"node-types/if.json"`},
		},
	} {
		t.Run(name, func(t *testing.T) { open(t, shop).play(steps) })
	}
}

// A feature that is off takes its tools away.
func TestFeatures(t *testing.T) {
	all, plain := bind(t, shop).Tools(), bind(t, "{}").Tools()
	require.Len(t, all, len(specs))
	require.Len(t, plain, len(specs)-len(needs))
	s := open(t, "{}")
	for name, feature := range needs {
		e := s.raw(tool.Call{Name: name, Args: []byte(`{}`)})
		require.Equal(t, "E_NO_TOOL", e.Code, "%s needs %s", name, feature)
	}
	require.Equal(t, "E_BLOCKED", open(t, "permissions: {list-tags: blocked}").code("list-tags", ""))
}

// Unknown arguments are refused by the schemas and, behind them, by the world.
func TestUnknownArguments(t *testing.T) {
	s := open(t, shop)
	for _, spec := range specs {
		c := tool.Call{Name: spec.Name, Args: []byte(`{"__proto__":1}`)}
		require.NotEmpty(t, allTools().Validate(c), spec.Name)
		require.Equal(t, "E_BAD_ARGS", s.raw(c).Code, spec.Name)
		require.NotEmpty(t, spec.Group, spec.Name)
		require.NotEmpty(t, spec.Description)
	}
}

// A tool is offered by one group, and each of the documented approvals is on a tool.
func TestSpecs(t *testing.T) {
	groups := map[string]int{}
	for _, spec := range specs {
		groups[spec.Group]++
		require.Equal(t, approvals[spec.Name].who, spec.Approval)
	}
	require.Equal(t, map[string]int{groupWorkflow: 13, groupExecution: 6, groupCredential: 6, groupNode: 6, groupTableRead: 3, groupTableWrite: 8,
		groupWorkspace: 8, groupResearch: 2, groupTemplate: 3, groupAsk: 1, groupSandbox: 3, groupBuild: 2}, groups)
	for name := range approvals {
		require.Contains(t, handlers, name)
	}
	for name := range needs {
		require.Contains(t, handlers, name)
	}
}

// TestArguments: bounds and defaults of arguments, and who is asked, are those of the system that
// the instance simulates. "list 1–5" is a list of so many entries, "text 1–128" a text of so many
// characters.
func TestArguments(t *testing.T) {
	type schema struct {
		Type       string
		Properties map[string]struct {
			Type                                                                any
			Minimum, Maximum, Default, MinItems, MaxItems, MinLength, MaxLength *int
			Enum                                                                []string
		}
	}
	got := map[string]string{}
	approvals := map[string][]string{}
	for _, spec := range specs {
		var s schema
		require.NoError(t, json.Unmarshal(spec.Schema, &s))
		for name, p := range s.Properties {
			text := ""
			switch {
			case p.Enum != nil:
				text = strings.Join(p.Enum, " ")
			case p.Maximum != nil:
				text = fmt.Sprintf("%d–%d", *p.Minimum, *p.Maximum)
			case p.MaxItems != nil:
				text = fmt.Sprintf("list %d–%d", *p.MinItems, *p.MaxItems)
			case p.MaxLength != nil && p.MinLength != nil:
				text = fmt.Sprintf("text %d–%d", *p.MinLength, *p.MaxLength)
			}
			if p.Default != nil {
				text += fmt.Sprintf(", %d", *p.Default)
			}
			got[spec.Name+"."+name] = text
		}
		if spec.Approval == "ask" {
			approvals[spec.Severity] = append(approvals[spec.Severity], spec.Name)
		}
	}
	for argument, want := range map[string]string{
		"list-workflows.limit": "1–100, 50", "list-workflows.status": "active archived all", "list-workflow-versions.limit": "1–100, 20", "list-workflow-versions.skip": "0–10000, 0",
		"list-executions.limit": "1–100, 20", "list-executions.status": "success error running waiting", "run-workflow.timeout": "1–600000, 300000", "verify-built-workflow.timeout": "1–600000, 300000",
		"get-node-output.startIndex": "0–1000000, 0", "get-node-output.maxItems": "1–50, 10", "list-credentials.limit": "1–200, 50", "get-node-type-definition.nodeTypes": "list 1–5",
		"get-suggested-nodes.categories": "list 1–3", "insert-data-table-rows.rows": "list 1–100", "create-data-table.name": "text 1–128", "add-data-table-column.columnName": "text 1–128",
		"add-data-table-column.type": "string number boolean date", "cleanup-test-executions.olderThanHours": "1–8760, 1", "web-search.maxResults": "1–20, 5", "fetch-url.maxContentLength": "1–100000, 30000",
		"ask-user.options": "list 2–10", "ask-user.type": "single multi text",
	} {
		require.Equal(t, want, got[argument], argument)
	}
	for _, names := range approvals {
		slices.Sort(names)
	}
	require.Equal(t, map[string][]string{
		"destructive": {"delete-credential", "delete-data-table", "delete-data-table-rows", "delete-folder"},
		"warning":     {"delete-data-table-column", "delete-workflow", "publish-workflow", "restore-workflow-version", "run-workflow", "stop-execution", "unarchive-workflow", "unpublish-workflow"},
		"info":        {"ask-user", "fetch-url", "setup-credentials", "setup-workflow"},
	}, approvals)
}

// All problems of a state are reported together, each at its place.
func TestBindProblems(t *testing.T) {
	_, err := kind{}.Bind(jsonOf(t, `
unknown: 1
features: [versions, magic]
permissions: {fly: blocked, list-tags: always_allow}
credentials: {cr_1: {name: A}, cr_2: {name: B, type: nothing}, ../x: {name: C, type: smtp}}
tables:
  dt_1: {name: T, columns: [{name: a, type: string}, {name: a, type: string}, {name: __proto__, type: string}], rows: [{a: x, b: 1}, {a: 2}, 7]}
workflows:
  wf_1: {name: W, activeVersion: ver_9, folder: fd_9, tags: [x], draft: {nodes: [{name: A, type: manual}], connections: {A: [[{node: B, input: 0}]]}}}
  wf_2: {name: V}
faults: [{kind: magic}, {kind: stale_read, tool: fly}, {kind: inject, text: x}]
events: [{at: soon, fire: wf_1}, {at: 1m}, {at: 1m, edit: wf_9, patches: []}]
pages: [{title: x}]
`))
	require.Error(t, err)
	var got []string
	var joined interface{ Unwrap() []error }
	require.ErrorAs(t, err, &joined)
	for _, one := range joined.Unwrap() {
		var bad *world.StateError
		require.ErrorAs(t, one, &bad)
		got = append(got, bad.Path)
	}
	require.Equal(t, []string{
		"unknown", `credentials.\.\./x`, "credentials.cr_1.type", "credentials.cr_2.type", "tables.dt_1.columns.1", "tables.dt_1.columns.2", "tables.dt_1.rows.0.b", "tables.dt_1.rows.1.a", "tables.dt_1.rows.2",
		"workflows.wf_1.draft.connections.A.0.0", "workflows.wf_1.activeVersion", "workflows.wf_1.folder", "workflows.wf_1.tags.0", "workflows.wf_2.draft",
		"features.1", "permissions.fly", "permissions.list-tags", "pages.0.url", "events.0.at", "events.1", "events.2", "faults.0.kind", "faults.1.tool", "faults.2",
	}, got, fmt.Sprint(err))
}

// What is far too large is refused with a code, or ends an execution with E_LIMIT, and what models
// are shown of it is short.
func TestTooLarge(t *testing.T) {
	s := open(t, shop)
	code := func(n int) string {
		nodes := make([]string, n)
		for i := range nodes {
			nodes[i] = fmt.Sprintf(`{"name": "N%d", "type": "noOp"}`, i)
		}
		return fmt.Sprintf(`{"name": "Huge", "nodes": [%s], "connections": {}}`, strings.Join(nodes, ","))
	}
	huge := tool.Call{Name: "build-workflow", Args: jsonOf(t, fmt.Sprintf("{code: %q}", code(10_000)))}
	require.Equal(t, []string{"args:too_large"}, allTools().Validate(huge))
	require.Contains(t, s.raw(huge).Code+string(s.raw(huge).Value), "graph.limit", "of a strategy that does not check arguments")
	for name, code := range map[string]string{
		"graph.limit":      code(1_000),
		"connection.cycle": `{"name": "Round", "nodes": [{"name": "Go", "type": "manual"}, {"name": "A", "type": "noOp"}, {"name": "B", "type": "noOp"}], "connections": {"Go": [[{"node": "A"}]], "A": [[{"node": "B"}]], "B": [[{"node": "A"}]]}}`,
		"param.type":       `{"name": "Proto", "nodes": [{"name": "Go", "type": "manual"}, {"name": "Set", "type": "set", "parameters": {"fields": [{"name": "__proto__", "value": 1}]}}], "connections": {"Go": [[{"node": "Set"}]]}}`,
	} {
		e := s.call("build-workflow", "code: %q", code)
		require.Contains(t, string(e.Value)+e.Message, name)
		require.Less(t, len(e.Value)+len(e.Message), 32<<10, name)
		require.False(t, e.Changed, name)
	}

	s.ok("build-workflow", "code: %q", `{"name": "Wide", "nodes": [{"name": "Go", "type": "manual"}, {"name": "Split", "type": "splitOut", "parameters": {"field": "a", "includeOtherFields": true}}, {"name": "Again", "type": "splitOut", "parameters": {"field": "b", "includeOtherFields": true}}], "connections": {"Go": [[{"node": "Split"}]], "Split": [[{"node": "Again"}]]}}`)
	input := fmt.Sprintf(`{"a": [%s0], "b": [%s0], "text": %q}`, strings.Repeat("0,", 499), strings.Repeat("0,", 19), strings.Repeat("x", 5_000))
	got := s.ok("run-workflow", "workflowId: wf_5, inputData: %s", input)
	require.Contains(t, got, "E_LIMIT", "50 MB")
	require.Less(t, len(got), 32<<10)
	for _, name := range []string{"get-execution", "debug-execution"} {
		shown := s.ok(name, "executionId: ex_1")
		require.Contains(t, shown, "E_LIMIT")
		require.Less(t, len(shown), 64<<10, name)
	}
}
