package sim

import (
	"net/http"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/providers/sim/internal/model"
)

// oneCount is a request in the playbook of counting.
const oneCount = "angry on 2026-05-03?"

// counting returns a server whose models have a playbook of one request.
func counting(t testing.TB, cfg Config) http.Handler {
	t.Helper()
	tools, err := tool.NewSet([]tool.Spec{{Name: "get_counts", Schema: []byte(`{"type":"object","properties":{"day":{"type":"string"},"label":{"type":"string","enum":["angry","praise"]}},"required":["day","label"]}`)}})
	require.NoError(t, err)
	text := "playbook:\n  T1:\n    - {call: get_counts, args: {day: 2026-05-03, label: angry}, as: n}\n    - answer: \"{{n.value}} angry messages.\"\n"
	book, err := playbook.Read(fstest.MapFS{playbook.File: {Data: []byte(text)}}, "counting", []playbook.Task{{ID: "T1", Request: oneCount, Tools: tools}})
	require.NoError(t, err)
	cfg.Books = []*playbook.Book{book}
	return Handler(cfg)
}

// countPrompt returns a contract prompt at the start of an episode.
func countPrompt(request string) string {
	return "USER_REQUEST:\n<data>" + request + "</data>\n\nSCRATCHPAD (compact):\nGOAL: <data>" + request + "</data>\nCONSTRAINTS: \nPLAN: \nPROGRESS: (none)\nOBS: (none)\n" +
		"BUDGET_USED: steps=0/5 tool_calls=0/5 tokens=0\n\nTOOLS (strict JSON Schemas):\n1) get_counts: Counts.\nschema = {}\n"
}

// reply is the text of a model, and why it stopped.
type reply struct{ text, finish string }

// unknown is the reply of a model to a prompt that is in no playbook.
const unknown = model.Unknown
