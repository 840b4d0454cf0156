package launch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/external"
)

// FuzzAnswer: whatever an agent writes is an answer or a failure, never both or neither.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"42", `{"answer":"a","status":"clarify"}`, `{"answer":{"a":[1]}}`, `[{"output":"a"}]`, `{"answer":`, "{}{}", "<html>", "a\n{\"answer\":1}", "\x00\xff", "", " ", "null", `{"answer":null}`} {
		f.Add(seed, "/answer")
	}
	f.Add(`{"a":[{"b~/":1}]}`, "/a/0/b~0~1")
	f.Fuzz(func(t *testing.T, text, pointer string) {
		if !strings.HasPrefix(pointer, "/") || len(text) > maxAnswer {
			return
		}
		for _, n8n := range []bool{false, true} {
			var plain, pointed End
			plain.read("the command", strings.ToValidUTF8(text, "\uFFFD"))
			(&service{HTTP: external.HTTP{Answer: pointer}, n8n: n8n}).answered(text, &pointed)
			for _, end := range []End{plain, pointed} {
				require.Equal(t, end.Failure == "", strings.TrimSpace(end.Answer) != "", "%+v", end)
				require.Contains(t, statuses, end.Status)
			}
		}
	})
}
