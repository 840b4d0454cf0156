package mcphost

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestName(t *testing.T) {
	known := []string{"counts", "get_counts", "get-status", "ask_user"}
	for offered, want := range map[string]string{
		"get_counts": "get_counts", "mcp__world__get_counts": "get_counts", "MCP_Client_get_counts": "get_counts", "world.get_counts": "get_counts", "x/counts": "counts",
		"get_status": "get-status", "w_get_status": "get-status", "mcp__w__ask_user": "ask_user",
		"forget_counts": "counts", "accounts": "", "get_counts_2": "", "": "", "_": "",
	} {
		name, ok := Name(offered, known)
		require.Equal(t, want, name, offered)
		require.Equal(t, want != "", ok)
	}
}

func TestResult(t *testing.T) {
	for _, c := range []struct {
		text, want string
		failed     bool
	}{
		{`{"value":1}`, `{"value":1}`, false},
		{`"{\"value\":1}"`, `{"value":1}`, false},
		{`"\"{\\\"value\\\":1}\""`, `{"value":1}`, false},
		{`{"type":"text","text":"{\"value\":1}"}`, `{"value":1}`, false},
		{`[{"type":"text","text":"{\"value\":1}"}]`, `{"value":1}`, false},
		{`[{"type":"input_text","text":"{\"value\""},{"type":"output_text","text":":1}"}]`, `{"value":1}`, false},
		{`[{"response":[{"type":"text","text":"{\"value\":1}"}]}]`, `{"value":1}`, false},
		{`[{"response":[{"type":"text","text":"{\"value\":1}"}],"structuredContent":{"value":1}}]`, `{"value":1}`, false},
		{`[{"response":[{"type":"text","text":"no"}],"isError":true}]`, `no`, true},
		{`{"content":[{"type":"text","text":"{\"value\":1}"}]}`, `{"value":1}`, false},
		{`{"content":[{"type":"text","text":"no"}],"isError":true}`, `no`, true},
		{`{"content":[],"structuredContent":{"value":1}}`, `{"value":1}`, false},
		{`{"content":[{"type":"text","text":"seen"}],"structuredContent":{"value":1},"_meta":{}}`, `{"value":1}`, false},
		{`{"content":[{"type":"text","text":"[1]"}],"structuredContent":{"result":[1]}}`, `[1]`, false},
		{`{"content":[{"type":"text","text":"seen"}],"structuredContent":{"result":"seen"}}`, `seen`, false},
		// What tools return themselves.
		{"", "", false},
		{"two words", "two words", false},
		{`"two words"`, `"two words"`, false},
		{`"449"`, `"449"`, false},
		{`[]`, `[]`, false},
		{`[{"response":7}]`, `[{"response":7}]`, false},
		{`[{"response":[{"type":"text","text":"a"}],"id":1}]`, `[{"response":[{"type":"text","text":"a"}],"id":1}]`, false},
		{`[{"type":"text"}]`, `[{"type":"text"}]`, false},
		{`[{"type":"text","text":"a"},{"type":"image"}]`, `[{"type":"text","text":"a"},{"type":"image"}]`, false},
		{`{"content":"a letter","isError":false}`, `{"content":"a letter","isError":false}`, false},
		{`{"content":[{"type":"text","text":"a"}],"id":1}`, `{"content":[{"type":"text","text":"a"}],"id":1}`, false},
		{`{"result":{"value":1}}`, `{"result":{"value":1}}`, false},
		{`{`, `{`, false},
	} {
		value, failed := Result(c.text)
		require.Equal(t, c.want, value, c.text)
		require.Equal(t, c.failed, failed, c.text)
	}
}

func TestResultIsBounded(t *testing.T) {
	text := `{"value":1}`
	for range 10 {
		raw, err := json.Marshal([]map[string]string{{"type": "text", "text": text}})
		require.NoError(t, err)
		text = string(raw)
	}
	value, _ := Result(text)
	require.Contains(t, value, `"text"`, "eight of ten are taken off")
}

func TestArguments(t *testing.T) {
	const strict = `{"type":"object","properties":{"label":{"type":"string"},"id":{"type":"string"}},"additionalProperties":false}`
	for _, c := range []struct{ args, schema, want string }{
		{`{"label": "angry"}`, strict, `{"label": "angry"}`},
		{`{"label":"angry","tool":"MCP_get_counts"}`, "", `{"label":"angry"}`},
		{`{"tool":"get_counts","id":"call_1"}`, "", `{}`},
		{`{"label":"angry","log":"x"}`, strict, `{"label":"angry"}`},
		{`{"label":"angry","log":"x"}`, `{"additionalProperties":true}`, `{"label":"angry","log":"x"}`},
		{`{"id":"call_1"}`, strict, `{}`},
		{`{"id":7}`, strict, `{"id":7}`},
		{`[1`, strict, `[1`},
		{"", strict, ""},
	} {
		require.Equal(t, c.want, Arguments("call_1", "get_counts", c.args, []byte(c.schema)), c.args)
	}
}

func TestError(t *testing.T) {
	for _, c := range []struct{ text, code, message string }{
		{`{"error":{"code":"E_GONE","message":"no"}}`, "E_GONE", "no"},
		{`{"error":{"message":"no"},"more":1}`, "", "no"},
		{`{"error":"no","errorType":"NodeOperationError"}`, "", "no"},
		{`{"error":"[{\"type\":\"text\",\"text\":\"{\\\"error\\\":{\\\"code\\\":\\\"E_GONE\\\",\\\"message\\\":\\\"no\\\"}}\"}]"}`, "E_GONE", "no"},
		{`Tool failed: {"error":{"code":"E_GONE","message":"no"}} Please fix it.`, "E_GONE", "no"},
		{`E_GONE: no`, "E_GONE", "no"},
		{"Error: E_GONE: no\n Please fix your mistakes.", "E_GONE", "no"},
		{`"E_GONE: no"`, "E_GONE", "no"},
		{`It failed (E_GONE).`, "E_GONE", "It failed (E_GONE)."},
		{`An error occurred while running the tool. no`, "", "An error occurred while running the tool. no"},
		{`Error: no`, "", "Error: no"},
	} {
		code, message, ok := Error(c.text)
		require.True(t, ok, c.text)
		require.Equal(t, []string{c.code, c.message}, []string{code, message}, c.text)
	}
	for _, text := range []string{"", "449", `{"value":1,"error":null}`, `{"status":"failed","error":"disk full"}`, `{"error":7}`, `["E_GONE"]`, `errors are rare`, `no error`, `"Error: no"`, `"the code E_GONE"`, "null"} {
		_, _, ok := Error(text)
		require.False(t, ok, text)
	}
}

// FuzzResult: what is no envelope stays, and nothing that is read panics.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{`[{"type":"text","text":"1"}]`, `{"content":[],"structuredContent":{}}`, `"\"{\""`, `[{"response":[{}]}]`, `{"error":"{\"error\":\"E_A\"}"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, _ := Result(text)
		again, _ := Result(text)
		require.Equal(t, value, again)
		require.LessOrEqual(t, len(value), 3*len(text), "a byte that is no text becomes one of three")
		Error(text)
		Arguments(text, text, text, []byte(text))
		Name(text, []string{text, "a"})
	})
}
