package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	countPath = messagesPath + "/count_tokens"
	claudeGet = `"tools":[{"name":"get","input_schema":{"type":"object"}}],`
)

// messageIn calls the Messages API with the header for threads.
func messageIn(t *testing.T, h http.Handler, body string) anthropicReply {
	t.Helper()
	w := post(t, h, messagesPath, body, "Anthropic-Beta", "other-2026-01-01, "+threadsBeta)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var r anthropicReply
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r))
	return r
}

func TestThread(t *testing.T) {
	h := Handler(Config{Seed: 1})
	create := `{` + claudeModel + claudeGet + `"system":"Be brief.","thread":{"type":"create"},"messages":[{"role":"user","content":"think Hm.\ncall get {\"a\":1}\nthen\nresults"}]}`
	first := messageIn(t, h, create)
	require.Equal(t, "tool_use", first.StopReason)
	result := `"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + first.Content[1].ID + `","content":"42"}]}]}`
	go1 := `{` + claudeModel + `"thread":{"type":"continue","previous_message_id":"` + first.ID + `"},` + result
	second := messageIn(t, h, go1)
	require.Equal(t, "get -> 42", *second.Content[0].Text, "the thread holds messages and tools")
	third := messageIn(t, h, `{`+claudeModel+`"thread":{"type":"continue","previous_message_id":"`+second.ID+`"},"messages":[{"role":"user","content":"system\ncall get {}"}]}`)
	require.Equal(t, "Be brief.", *third.Content[0].Text)
	require.Greater(t, third.Usage.InputTokens, second.Usage.InputTokens, "the whole conversation is the prompt")

	refused := func(body string, status int, code, message string, header ...string) {
		t.Helper()
		if header == nil {
			header = []string{"Anthropic-Beta", threadsBeta}
		}
		w := post(t, h, messagesPath, body, header...)
		require.Equal(t, status, w.Code, w.Body)
		var e anthropicError
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
		require.Equal(t, code, e.Error.Details["error_code"])
		require.Contains(t, e.Error.Message, message)
		require.Equal(t, map[int]string{400: "invalid_request_error", 404: "not_found_error"}[status], e.Error.Type)
	}
	refused(go1, 400, "thread_already_continued", "already been continued")
	refused(strings.Replace(go1, first.ID, "msg_other", 1), 404, "thread_not_found", "msg_other")
	refused(create, 400, "", "Extra inputs are not permitted", "Anthropic-Beta", "other")
	refused(strings.Replace(create, `"create"`, `"fork"`, 1), 400, "", "'fork'")
	refused(strings.Replace(create, `{"type":"create"}`, `"create"`, 1), 400, "", "should be an object")
	refused(strings.Replace(create, `"create"`, `"continue"`, 1), 400, "", "previous_message_id")

	// The same request again starts a second thread with the same id, so it can be
	// continued once more.
	messageIn(t, h, create)
	refused(strings.Replace(go1, `"thread"`, `"system":"Be brief.","output_config":{"effort":"low"},"thread"`, 1), 400, "thread_fingerprint_mismatch", "differing field(s): system, output_config")
	refused(strings.Replace(go1, result, `"messages":[]}`, 1), 400, "", "at least one message")
	refused(strings.Replace(go1, first.Content[1].ID, "toolu_other", 1), 400, "", "toolu_other")
	messageIn(t, h, go1)
	refused(go1, 400, "thread_already_continued", "already been continued")

	// A refusal ends the thread.
	ended := messageIn(t, h, `{`+claudeModel+`"thread":{"type":"create"},"messages":[{"role":"user","content":"refuse No."}]}`)
	refused(`{`+claudeModel+`"thread":{"type":"continue","previous_message_id":"`+ended.ID+`"},"messages":[{"role":"user","content":"say hi"}]}`, 404, "thread_not_found", ended.ID)
}

// The count of a request equals the sum of its reply's usage.
func TestCountTokens(t *testing.T) {
	h := Handler(Config{Seed: 1})
	for _, rest := range []string{
		`"messages":[{"role":"user","content":"say hi"}]}`,
		`"system":"Be brief.",` + claudeGet + `"messages":[{"role":"user","content":"call get {\"a\":1}\ncached 4000 20"}]}`,
		`"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}},{"type":"text","text":"describe"}]}]}`,
	} {
		w := post(t, h, countPath, `{"model":"sim-probe",`+rest)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		var count struct {
			InputTokens int `json:"input_tokens"`
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &count))
		usage := messageIn(t, h, `{`+claudeModel+rest).Usage
		require.Equal(t, usage.InputTokens+usage.CacheReadInputTokens+usage.CacheCreationInputTokens, count.InputTokens)
		require.Positive(t, count.InputTokens)
	}
	for body, want := range map[string]string{
		`{"model":"sim-probe","max_tokens":5,"messages":[` + hiTurn + `]}`: "max_tokens: Extra inputs",
		`{"model":"gpt-none","messages":[` + hiTurn + `]}`:                 "gpt-none",
		`{"model":"sim-probe"}`:                                            "messages",
		`[]`:                                                               "parse the JSON",
	} {
		w := post(t, h, countPath, body)
		require.GreaterOrEqual(t, w.Code, 400, body)
		require.Contains(t, w.Body.String(), want)
		requireError(t, countPath, w)
	}
}
