package load

import (
	"encoding/json"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/world"
)

// serverSuite is a suite of an MCP server with these settings, whose tools are pinned.
func serverSuite(t *testing.T, settings string) fstest.MapFS {
	p, err := toolserver.Pin("files", "1", []json.RawMessage{
		json.RawMessage(`{"name":"read","description":"Reads.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`),
		json.RawMessage(`{"name":"write","title":"Writer","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}}`),
		json.RawMessage(`{"name":"other","inputSchema":{"type":"object"}}`),
		json.RawMessage(`{"name":"a/b","inputSchema":{"type":"object"}}`),
		json.RawMessage(`{"name":"bad","inputSchema":{"type":"objects"}}`),
	})
	require.NoError(t, err)
	lock, err := toolserver.Lock{"files": p}.Write()
	require.NoError(t, err)
	return fstest.MapFS{
		"suite.yaml": {Data: []byte("name: demo\ntools:\n  - mcp:\n      name: files\n      " + settings +
			"\ntasks:\n  - {id: A, request: Hi, expect: {status: answered}}\n")},
		toolserver.LockFile: {Data: lock},
	}
}

// TestLoadServer: tools are those that the suite names, and ask unless they are known to
// change nothing.
func TestLoadServer(t *testing.T) {
	s, err := Suite(serverSuite(t, `command: [npx, files]
      env: [TOKEN]
      reset: [sh, reset.sh]
      timeout: 5s
      tools:
        - read
        - {name: write, approve: never}
        - {name: other, write: false, hint: Read first., repeatable: true, uncacheable: true}`), "dir", nil)
	require.NoError(t, err)
	require.NoError(t, s.Lint(), "a tool of a server needs no world")
	require.Equal(t, []tool.Spec{
		{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`), Group: "mcp"},
		{Name: "write", Description: "Writer", Schema: json.RawMessage(`{"type":"object"}`), Group: "mcp"},
		{Name: "other", Description: "other", Schema: json.RawMessage(`{"type":"object"}`), Hint: "Read first.", Repeatable: true, Uncacheable: true, Group: "mcp"},
	}, compactSchemas(t, s.Tools))
	require.Equal(t, map[string]goldens.Approval{"write": goldens.ApproveNever}, s.Approvals)
	server := s.MCP["read"]
	require.Equal(t, []string{"npx", "files"}, server.Command)
	require.Equal(t, []string{"TOKEN"}, server.Env)
	require.Equal(t, 5*time.Second, server.Timeout)
	require.Equal(t, "dir", server.Dir)

	all, err := Suite(serverSuite(t, `url: https://x.example/mcp
      headers: {Authorization: {env: KEY}}
      tools: [write, other]`), "dir", nil)
	require.NoError(t, err)
	require.Equal(t, map[string]goldens.Approval{"write": goldens.ApproveAsk, "other": goldens.ApproveAsk}, all.Approvals)
	require.Equal(t, []world.HTTPHeader{{Name: "Authorization", Env: "KEY"}}, all.MCP["other"].Headers)
	require.Equal(t, []string{"KEY"}, all.MCP["other"].Variables())
	require.Equal(t, toolserver.DefaultTimeout, all.MCP["other"].Timeout)
	require.NotEqual(t, s.Digest, all.Digest)
	require.NoError(t, compiledSchema(t).Validate(asJSON(t, serverSuite(t, "command: [x]\n      tools: [read, {name: write}]")["suite.yaml"].Data)))
}

func compactSchemas(t *testing.T, specs []tool.Spec) []tool.Spec {
	for i := range specs {
		text, err := tool.Canonical(specs[i].Schema)
		require.NoError(t, err)
		specs[i].Schema = text
	}
	return specs
}

func TestLoadServerProblems(t *testing.T) {
	for settings, want := range map[string]string{
		`timeout: 1s`:                                                 `tools[0].mcp: needs either a command, such as [npx, -y, a-server], or a url`,
		`command: []`:                                                 `tools[0].mcp.command: must be a list of the program and its arguments`,
		`url: "ftp://x"`:                                              `tools[0].mcp.url: must be the address of a server, such as http://127.0.0.1:8931/mcp, without a credential`,
		`url: "http://x/?api_key=1"`:                                  `tools[0].mcp.url: must be the address of a server`,
		`url: "http://me:secret@x/"`:                                  `tools[0].mcp.url: must be the address of a server`,
		"command: [x]\n      url: y":                                  `tools[0].mcp: needs either a command`,
		"command: [x]\n      env: [A=b]":                              `tools[0].mcp.env[0]: must be the name of an environment variable, never its value`,
		"command: [x]\n      reset: []":                               `tools[0].mcp.reset: must be a list`,
		"command: [x]\n      headers: {A: b}":                         `tools[0].mcp.headers: only a server with a url gets headers; name variables in env`,
		"url: http://x\n      headers: {Authorization: secret}":       `tools[0].mcp.headers.Authorization: a credential belongs in the environment: write {env: NAME}`,
		"command: [x]\n      tools: []":                               `tools[0].mcp.tools: must name a tool; leave it out to offer all tools of the server`,
		"command: [x]\n      tools: [rea]":                            `tools[0].mcp.tools[0]: server files has no tool "rea" (did you mean read?); it has: read, write, other, a/b, bad`,
		"command: [x]\n      tools: [read, read]":                     `tools[0].mcp.tools[1]: tool read is here already`,
		"command: [x]\n      tools: [a/b]":                            `tools[0].mcp.tools[0]: `,
		"command: [x]\n      tools: [bad]":                            `tools[0].mcp.tools[0]: not a valid JSON Schema`,
		"command: [x]\n      tools: [{name: read, approve: perhaps}]": `tools[0].mcp.tools[0].approve: `,
		"command: [x]\n      tools: [read]\n  - mcp: {name: files, url: 'http://x'}":                       `tools[1].mcp: server files is described already`,
		"command: [x]\n      tools: [read]\n  - mcp: {name: others, url: 'http://x'}":                      `tools[1].mcp: the tools of server others are not pinned; run: cupel suite tools dir --pin`,
		"command: [x]\n      tools: [read]\n  - {mcp: {name: b, url: 'http://x'}, name: c}":                `tools[1]: an entry with mcp has no other field; mark tools in mcp.tools`,
		"command: [x]\n      tools: [read]\n  - {name: read, description: Reads., schema: {type: object}}": `tools[1].name: tool read is defined already, on line 6`,
	} {
		_, err := Suite(serverSuite(t, settings), "dir", nil)
		require.ErrorContains(t, err, want, settings)
	}
	files := serverSuite(t, "command: [x]")
	files[toolserver.LockFile].Data = []byte("{")
	_, err := Suite(files, "dir", nil)
	require.ErrorContains(t, err, "dir/tools.lock.json:1: not a lock of tools: unexpected EOF; run: cupel suite tools dir --pin")
	_, servers, err := Processes(files, "dir", nil)
	require.NoError(t, err, "what is to be pinned needs no lock")
	require.Len(t, servers, 1)
}
