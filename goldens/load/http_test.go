package load

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/world"
)

// loadTool loads a suite of one tool with further fields, from line 8 on.
func loadTool(fields, task string) (*goldens.Suite, error) {
	text := "name: demo\nworlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC}}\ndefaults: {world: w}\ntools:\n  - name: find\n" +
		"    description: Finds.\n    schema: {type: object, properties: {id: {type: string}, q: {type: string}}, required: [id]}\n" +
		fields + "tasks:\n  - " + task + "\n"
	return Suite(suitetest.Folder(text), "s", suitetest.Worlds())
}

const find = "{id: A, request: Hi, expect: {status: answered}}"

func TestLoadHTTPTool(t *testing.T) {
	s, err := loadTool(`    http:
      method: POST
      url: https://api.example/find/{id}?q={q}
      headers:
        authorization: {env: FIND_KEY, prefix: "Bearer "}
        accept-language: en
      json: args
      timeout: 2s
      max_bytes: 100
`, find)
	require.NoError(t, err)
	require.NoError(t, s.Lint(), "a tool with http needs no world")
	h := s.HTTP["find"]
	require.Equal(t, []world.HTTPHeader{{Name: "Authorization", Env: "FIND_KEY", Prefix: "Bearer "}, {Name: "Accept-Language", Value: "en"}}, h.Headers)
	require.Equal(t, "POST", h.Method)
	require.True(t, h.JSON)
	require.Equal(t, 2*time.Second, h.Timeout)
	require.Equal(t, int64(100), h.MaxBytes)
	u, err := h.Address([]byte(`{"id":"1","q":"x y"}`))
	require.NoError(t, err)
	require.Equal(t, "https://api.example/find/1?q=x%20y", u)
	require.Equal(t, goldens.ApproveAsk, s.Approval("find"), "what is not a GET writes")

	other, err := loadTool("    http: {url: 'https://other.example/find/{id}'}\n", find)
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, other.HTTP["find"].Timeout)
	require.Equal(t, int64(1<<20), other.HTTP["find"].MaxBytes)
	require.NotEqual(t, s.Digest, other.Digest, "where a tool is run can change a result")
}

func TestLoadApprovals(t *testing.T) {
	plain, err := loadTool("", find)
	require.NoError(t, err)
	for fields, want := range map[string]goldens.Approval{
		"":                                       goldens.ApproveAlways,
		"    write: true\n":                      goldens.ApproveAsk,
		"    write: true\n    approve: always\n": goldens.ApproveAlways,
		"    approve: ask\n":                     goldens.ApproveAsk,
		"    approve: never\n":                   goldens.ApproveNever,
		"    http: {url: 'http://h/', method: DELETE}\n":                 goldens.ApproveAsk,
		"    http: {url: 'http://h/', method: POST}\n    write: false\n": goldens.ApproveAlways,
	} {
		s, err := loadTool(fields, find)
		require.NoError(t, err, fields)
		require.Equal(t, want, s.Approval("find"), fields)
		require.Equal(t, want == goldens.ApproveAlways && s.HTTP == nil, s.Digest == plain.Digest, fields)
	}
	s, err := loadTool("    write: true\n", "{id: A, request: Hi, approvals: [approve, deny], expect: {status: answered}}")
	require.NoError(t, err)
	require.Equal(t, []bool{true, false}, s.Tasks[0].Approvals)
	w, err := goldens.OpenWorld(t.Context(), s.Tasks[0], 1)
	require.NoError(t, err)
	require.Equal(t, []bool{true, false, false}, []bool{w.Approve(), w.Approve(), w.Approve()}, "afterwards every call is declined")
}

// cautious is a kind of world with a tool that asks unless the suite says otherwise.
type cautious struct{ world.Kind }

func (cautious) Tools() []tool.Spec {
	return []tool.Spec{{Name: "drop", Description: "Drops.", Schema: []byte(`{"type":"object"}`), Group: "table-write", Approval: "ask", Severity: "destructive"}}
}

func TestLoadApprovalOfAKind(t *testing.T) {
	for fields, want := range map[string]goldens.Approval{"": goldens.ApproveAsk, ", approve: always": goldens.ApproveAlways} {
		text := "name: demo\nworlds: {w: {kind: cautious}}\ndefaults: {world: w}\ntools:\n- {name: drop" + fields + "}\ntasks:\n- {id: A, request: Drop, expect: {status: answered}}\n"
		s, err := Suite(suitetest.Folder(text), "s", map[string]world.Kind{"cautious": cautious{}})
		require.NoError(t, err)
		require.Equal(t, want, s.Approval("drop"), fields)
		require.Equal(t, "table-write destructive", s.Tools[0].Group+" "+s.Tools[0].Severity)
	}
}

func TestLoadToolUseProblems(t *testing.T) {
	tests := []struct {
		name, fields, task string
		want               string
	}{
		{"approve", "    approve: maybe\n", find, `s/suite.yaml:8: tools[0].approve: "maybe" is not known; allowed: always, ask, never`},
		{"approvals", "    write: true\n", "{id: A, request: Hi, approvals: [yes please], expect: {status: answered}}", `s/suite.yaml:10: tasks[0].approvals[0]: "yes please" is not known; allowed: approve, deny`},
		{"approvals of nothing", "", "{id: A, request: Hi, approvals: [approve], expect: {status: answered}}", "s/suite.yaml:9: tasks[0].approvals: the task offers no tool whose calls need approval"},
		{"no url", "    http: {}\n", find, "s/suite.yaml:8: tools[0].http.url: is missing"},
		{"method", "    http: {url: 'http://h/', method: get}\n", find, `s/suite.yaml:8: tools[0].http.method: "get" is not known (did you mean GET?); allowed: GET, POST, PUT, PATCH, DELETE`},
		{"host", "    http: {url: 'http://{id}/'}\n", find, "s/suite.yaml:8: tools[0].http.url: must name its host: an argument is allowed only in the path and after the = of a query parameter"},
		{"unknown argument", "    http: {url: 'http://h/?x={x}'}\n", find, `s/suite.yaml:8: tools[0].http.url: the tool's schema has no property "x"`},
		{"optional argument in the path", "    http: {url: 'http://h/{q}'}\n", find, "s/suite.yaml:8: tools[0].http.url: {q} is in the path, so the tool's schema must require it"},
		{"body of a GET", "    http: {url: 'http://h/', json: args}\n", find, "s/suite.yaml:8: tools[0].http.json: a GET has no body: give a method such as POST"},
		{"literal credential", "    http: {url: 'http://h/', headers: {X-Api-Key: abc}}\n", find, "s/suite.yaml:8: tools[0].http.headers.X-Api-Key: a credential belongs in the environment: write {env: NAME}"},
		{"credential as a name", "    http: {url: 'http://h/', headers: {X-Api-Key: {env: sk-123}}}\n", find, "s/suite.yaml:8: tools[0].http.headers.X-Api-Key.env: must be the name of an environment variable, never the key itself"},
		{"own header", "    http: {url: 'http://h/', headers: {x-run-id: a}}\n", find, "s/suite.yaml:8: tools[0].http.headers.x-run-id: the header X-Run-Id is set by cupel itself"},
		{"header twice", "    http: {url: 'http://h/', headers: {a: b, A: c}}\n", find, "s/suite.yaml:8: tools[0].http.headers.A: the header A is here already"},
		{"header's name", "    http: {url: 'http://h/', headers: {'a b': c}}\n", find, `s/suite.yaml:8: tools[0].http.headers.a b: "a b" is not the name of a header`},
		{"header's value", "    http: {url: 'http://h/', headers: {a: \"b\\r\\nc\"}}\n", find, "s/suite.yaml:8: tools[0].http.headers.a: must be printable ASCII"},
		{"size", "    http: {url: 'http://h/', max_bytes: 0}\n", find, "s/suite.yaml:8: tools[0].http.max_bytes: must be from 1 to 16777216, but is 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := loadTool(tt.fields, tt.task)
			require.EqualError(t, err, tt.want)
		})
	}
}
