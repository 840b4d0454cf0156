package playbook_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// Excuses are read with the playbook. * matches any text, and the problem of an excuse has its
// line.
func TestExcuses(t *testing.T) {
	tools, err := tool.NewSet(nil)
	require.NoError(t, err)
	read := func(text string) (*playbook.Book, error) {
		return playbook.Read(fstest.MapFS{playbook.File: {Data: []byte("playbook: {A: [{answer: hi}]}\n" + text)}}, "s", []playbook.Task{{ID: "A", Request: "a", Tools: tools}})
	}
	book, err := read(`equivalent:
  A:
    - {mutant: "an answer that names * instead of *, too", why: because}
    - {mutant: exactly this, why: because}
`)
	require.NoError(t, err)
	list := book.Excuses("A")
	require.Len(t, list, 2)
	require.Empty(t, book.Excuses("B"))
	require.Empty(t, (*playbook.Book)(nil).Excuses("A"))
	for does, want := range map[string][2]bool{
		"an answer that names 1 instead of 2, too": {true, false},
		"an answer that names 1 instead of 2":      {},
		"exactly this":                             {false, true},
		"exactly this one":                         {},
	} {
		require.Equal(t, want, [2]bool{list[0].Matches(does), list[1].Matches(does)}, does)
	}
	require.EqualError(t, list[1].Unused(), "s/playbook.yaml:5: equivalent.A[1]: the task accepts no mutant that does this; remove the excuse, or write what suite prove says")

	_, err = read("equivalent: {B: [], A: [{mutant: x}]}")
	require.ErrorContains(t, err, `the suite has no task "B" that takes a solution`)
	require.ErrorContains(t, err, "equivalent.A[0].why")
}
