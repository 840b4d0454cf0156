package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const probeTool = `"tools":[{"type":"function","name":"get","parameters":{"type":"object"}}],`

// respondTo calls the Responses API and returns the reply's id, its text, and the ids
// of its items and calls.
func respondTo(t *testing.T, h http.Handler, body string) (id, text string, items []string) {
	t.Helper()
	w := post(t, h, responsesPath, body)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var r struct {
		ID     string
		Store  bool
		Output []struct {
			ID      string
			CallID  string `json:"call_id"`
			Content []struct{ Text string }
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r))
	require.Equal(t, !strings.Contains(body, `"store":false`), r.Store)
	for _, o := range r.Output {
		items = append(items, o.ID)
		for _, c := range o.Content {
			text += c.Text
		}
		if o.CallID != "" {
			items = append(items, o.CallID)
		}
	}
	return r.ID, text, items
}

// The second turn of an agent refers to the items of the first by their ids.
func TestItemReferences(t *testing.T) {
	h := Handler(Config{Seed: 1})
	ask := `{"role":"user","content":"think Hm.\nsay First.\ncall get {\"a\":1}\nthen\nresults"}`
	_, _, items := respondTo(t, h, `{`+probeModel+probeTool+`"input":[`+ask+`]}`)
	require.Len(t, items, 4, "reasoning, message, call, and the call's other id")
	refs := ""
	for _, id := range items[:3] {
		refs += `,{"type":"item_reference","id":"` + id + `"}`
	}
	output := `,{"type":"function_call_output","call_id":"` + items[3] + `","output":"42"}`
	_, text, _ := respondTo(t, h, `{`+probeModel+probeTool+`"input":[`+ask+refs+output+`]}`)
	require.Equal(t, "get -> 42", text)

	// A bare id without a type is also a reference.
	_, text, _ = respondTo(t, h, `{`+probeModel+probeTool+`"input":[`+ask+strings.ReplaceAll(refs, `"type":"item_reference",`, "")+output+`]}`)
	require.Equal(t, "get -> 42", text)

	// Another server does not know these ids.
	w := post(t, Handler(Config{Seed: 1}), responsesPath, `{`+probeModel+probeTool+`"input":[`+ask+refs+output+`]}`)
	requireUnknownItem(t, w.Code, w.Body.Bytes(), items[0])
}

func TestItemsThatAreNotStored(t *testing.T) {
	h := Handler(Config{Seed: 1})
	_, _, items := respondTo(t, h, `{`+probeModel+`"store":false,"input":"say hi"}`)
	w := post(t, h, responsesPath, `{`+probeModel+`"input":[{"type":"item_reference","id":"`+items[0]+`"},`+hiTurn+`]}`)
	requireUnknownItem(t, w.Code, w.Body.Bytes(), items[0])
	w = post(t, h, responsesPath, `{`+probeModel+`"input":[{"type":"item_reference"},`+hiTurn+`]}`)
	require.Equal(t, http.StatusNotFound, w.Code, w.Body)
}

// requireUnknownItem checks for OpenAI's error for an unknown id.
func requireUnknownItem(t *testing.T, status int, body []byte, id string) {
	t.Helper()
	require.Equal(t, http.StatusNotFound, status, string(body))
	var e openAIError
	require.NoError(t, json.Unmarshal(body, &e))
	require.Equal(t, "Item with id '"+id+"' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", e.Error.Message)
	require.Equal(t, "invalid_request_error", e.Error.Type)
	require.Equal(t, "input", *e.Error.Param)
	require.Nil(t, e.Error.Code)
}

func TestPreviousResponse(t *testing.T) {
	h := Handler(Config{Seed: 1})
	first, _, items := respondTo(t, h, `{`+probeModel+probeTool+`"input":"call get {}\nthen\nresults"}`)
	second, text, _ := respondTo(t, h, `{`+probeModel+probeTool+`"previous_response_id":"`+first+`","input":[{"type":"function_call_output","call_id":"`+items[len(items)-1]+`","output":"42"}]}`)
	require.Equal(t, "get -> 42", text, "the turn after the first")
	_, text, _ = respondTo(t, h, `{`+probeModel+probeTool+`"previous_response_id":"`+second+`","input":"results"}`)
	require.Equal(t, "", text, "a new turn of the user, whose calls were answered before")
	w := post(t, Handler(Config{Seed: 1}), responsesPath, `{`+probeModel+`"previous_response_id":"`+first+`","input":"say hi"}`)
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), "previous_response_not_found")
}

// References cannot make a request larger than the limit of a body.
func TestItemReferencesAreBounded(t *testing.T) {
	h := Handler(Config{Seed: 1})
	_, _, items := respondTo(t, h, `{`+probeModel+`"input":"fill 1000"}`)
	refs := strings.Repeat(`{"type":"item_reference","id":"`+items[0]+`"},`, 3000)
	w := post(t, h, responsesPath, `{`+probeModel+`"input":[`+refs+hiTurn+`]}`)
	require.Equal(t, http.StatusRequestEntityTooLarge, w.Code, w.Body)
}
