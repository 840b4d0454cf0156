package goldens

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A task with fails is solved by exactly these failures, whatever their order.
func TestScoreFails(t *testing.T) {
	for _, c := range []struct {
		name   string
		fails  []string
		answer string
		detail string // empty: solved
	}{
		{"exactly these", []string{"status", "answer_numbers"}, "7", ""},
		{"one more", []string{"status"}, "7", "want exactly these checks to fail: status; failed: answer_numbers, status"},
		{"one less", []string{"status", "answer_numbers"}, "5", "want exactly these checks to fail: answer_numbers, status; failed: status"},
	} {
		task := Task{Fails: c.fails, Expect: []Expect{{Status: "answered", Numbers: []string{"5"}}}}
		solved, checks := Score(task, Outcome{Status: "clarify", Answer: c.answer})
		require.Equal(t, c.detail == "", solved, c.name)
		require.Equal(t, []CheckResult{{Name: "fails", Passed: solved, Detail: c.detail}}, checks, c.name)
	}
	met := Task{Fails: []string{"status"}, Expect: []Expect{{Status: "answered"}}}
	solved, checks := Score(met, Outcome{Status: "answered"})
	require.False(t, solved)
	require.Equal(t, "want exactly these checks to fail: status; failed: none", checks[0].Detail)
}
