package memory

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"as asked", "09:05 wf_1 was published\n\n- 23:59 dt_2 has 3 rows\n", []string{"09:05 wf_1 was published", "23:59 dt_2 has 3 rows"}},
		{"nothing", " \n", nil},
		{"no time", "09:05 a\nwf_1 was published", nil},
		{"no text", "09:05 ", nil},
		{"no such hour", "24:05 a", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := Read(test.text)
			require.Equal(t, test.want, got)
			require.Equal(t, test.want != nil, ok)
		})
	}
	got, _ := Read("09:05 " + strings.Repeat("long ", 200))
	require.Len(t, []rune(got[0]), maxLine)
}

func TestFold(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC)
	got := Fold([]providers.Message{
		{Role: providers.RoleUser, Text: "publish\nthe  report"},
		{Role: providers.RoleAssistant, Text: "I look", Calls: []providers.ToolCall{
			{ID: "a", Name: "get-workflow", Args: `{"workflowId":"wf_1"}`}, {ID: "b", Name: "publish-workflow", Args: `{"workflowId":"wf_1"}`}, {ID: "c", Name: "get-execution", Args: `{}`},
		}},
		{Role: providers.RoleTool, CallID: "a", Text: `{"id":"wf_1","folder":"fo_3"}`},
		{Role: providers.RoleTool, CallID: "b", Text: `{"error":{"code":"E_DENIED","message":"no"}}`, Failed: true},
	}, at)
	require.Equal(t, []string{
		"09:05 user: publish the report", "09:05 assistant: I look", "09:05 get-workflow fo_3 wf_1: ok",
		"09:05 publish-workflow wf_1: E_DENIED", "09:05 get-execution : not answered",
	}, got)
}

func TestHalve(t *testing.T) {
	require.Equal(t, []string{"c", "d"}, Halve([]string{"a", "b", "c", "d"}))
	require.Empty(t, Halve([]string{"one"}))
	require.Empty(t, Halve(nil))
	require.Equal(t, 4, Size([]string{"a", "b"}))
}

// FuzzRead: what is read can be read again, and stays the same.
func FuzzRead(f *testing.F) {
	f.Add("09:05 a\n- 09:06 b")
	f.Fuzz(func(t *testing.T, text string) {
		lines, ok := Read(text)
		if !ok {
			return
		}
		again, ok := Read(strings.Join(lines, "\n"))
		require.True(t, ok)
		require.Equal(t, lines, again)
	})
}
