package playbook_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// The first example of docs/playbooks.md solves its task.
func TestTheFirstPlaybookOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/playbooks.md")
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	set, err := tool.NewSet([]tool.Spec{
		{Name: "get_order", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}`)},
		{Name: "find_orders", Schema: json.RawMessage(`{"type":"object","properties":{"customer":{"type":"string"},"arrived":{"enum":["broken"]}},"additionalProperties":false}`)},
		{Name: "refund", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"},"amount":{"type":"number"}},"additionalProperties":false}`)},
	})
	require.NoError(t, err)
	book, err := read(t, text, playbook.Task{ID: "O1", Request: "What became of order 17?", Tools: set}, playbook.Task{ID: "O2", Request: "Refund everything in my orders that arrived broken.", Tools: set})
	require.NoError(t, err)
	order, found := book.Find("What became of order 17?", nil)
	require.True(t, found)
	require.Equal(t, "answer Order 17 is sent; it costs 12.5 euros.", said(t, order, results(ok("get_order", `{"id":17}`, `{"status":"sent","amount":12.5}`))))
	refunds, _ := book.Of("O2")
	args := `{"arrived":"broken","customer":"Ada"}`
	for _, c := range []struct {
		results []playbook.Result
		want    string
	}{
		{nil, "call find_orders" + args},
		{[]playbook.Result{failed("find_orders", args, "E_NOT_FOUND")}, "answer I found no customer Ada."},
		{[]playbook.Result{ok("find_orders", args, "[]")}, "give_up None of your orders arrived broken."},
		{[]playbook.Result{ok("find_orders", args, `[{"id":3,"amount":5},{"id":4,"amount":7.5}]`)}, "call refund{\"amount\":5,\"id\":3}\ncall refund{\"amount\":7.5,\"id\":4}"},
		{[]playbook.Result{ok("find_orders", args, `[{"id":3,"amount":5}]`), ok("refund", `{"amount":5,"id":3}`, `{"amount":5}`)}, "answer I refunded 1 orders, 5 euros in all."},
	} {
		require.Equal(t, c.want, said(t, refunds, playbook.Seen{Replies: []string{"Ada"}, Results: c.results}))
	}
}
