package playbook_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/playbook"
)

// TestWithin: a request is found in the words of others, the longest of several, and its
// inputs with it.
func TestWithin(t *testing.T) {
	set := toolSet(t)
	book, err := read(t, "playbook:\n  A: [{answer: a}]\n  B: [{answer: b}]\n  C: [{answer: c}]\n  D: [{answer: d}]\n",
		playbook.Task{ID: "A", Request: "hi", Tools: set}, playbook.Task{ID: "B", Request: "How many  messages today?", Tools: set},
		playbook.Task{ID: "C", Request: "今天有多少条消息？", Tools: set}, playbook.Task{ID: "D", Request: "Count the \"days\" given.", Tools: set, Inputs: []string{"days", "label"}})
	require.NoError(t, err)
	for text, want := range map[string]string{
		"hi": "hi", "The user says: hi!": "hi", "which": "", "this": "", "": "", "7hi": "",
		"Context: a.How many messages\ntoday?Be brief.":                        "How many  messages today?",
		"hi, How many messages today?":                                         "How many  messages today?",
		"请回答今天有多少条消息？":                                                         "今天有多少条消息？",
		`{"request":"\u4eca\u5929\u6709\u591a\u5c11\u6761\u6d88\u606f\uff1f"}`: "今天有多少条消息？",
		`Do {"request": "Count the \"days\" given."} now`:                      `Count the "days" given.`,
	} {
		request, given, ok := book.Within(text)
		require.Equal(t, want, request, text)
		require.Equal(t, want != "", ok)
		require.Empty(t, given)
	}
	_, given, _ := book.Within("Count the \"days\" given.\n\ndays: [1, 2]\nlabel=\"a\" done")
	require.Equal(t, map[string]json.RawMessage{"days": json.RawMessage("[1, 2]"), "label": json.RawMessage(`"a"`)}, given)
	require.Len(t, book.Tools(), len(set.Specs()))
	_, _, ok := (*playbook.Book)(nil).Within("hi")
	require.False(t, ok)
	require.Empty(t, (*playbook.Book)(nil).Tools())
}
