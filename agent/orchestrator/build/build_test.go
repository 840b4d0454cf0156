package build

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/orchestrator/transition"
	"github.com/cupel-eval/cupel/agent/orchestrator/transition/tracetest"
)

func TestEveryEdgeHasATrace(t *testing.T) {
	tracetest.Run(t, "items", Items, func(t *testing.T, commands []string) (taken []transition.Edge) {
		b := &Book{moved: func(e transition.Edge) { taken = append(taken, e) }}
		var i *Item
		for _, c := range commands {
			verb, arg, _ := strings.Cut(c, " ")
			switch verb {
			case "open":
				i = b.Open("")
			case "save":
				i.Saved("wf_1", true)
			case "save_untestable":
				i.Saved("wf_1", false)
			case "submit_failed":
				i.SubmitFailed()
			case "needs_input":
				i.NeedsInput(arg)
			case "verdict":
				word, signature, _ := strings.Cut(arg, " ")
				i.Take(Report{Verdict: word, Signature: signature})
			default:
				t.Fatalf("unknown command %q", c)
			}
		}
		return taken
	})
}

func saving() *Item {
	i := new(Book).Open("")
	i.Saved("wf_1", true)
	return i
}

func patch(signature string) Report { return Report{Verdict: NeedsPatch, Signature: signature} }

func TestB127Submitted(t *testing.T) {
	i := new(Book).Open("")
	require.Equal(t, Action{Do: "verify"}, i.Saved("wf_1", true))
	require.Equal(t, Verifying, i.Phase)
	require.Equal(t, "wf_1", i.WorkflowID)
}

func TestB128PreSaveBudget(t *testing.T) {
	i := new(Book).Open("")
	require.Equal(t, Action{Do: "continue"}, i.SubmitFailed())
	require.Equal(t, Action{Do: "continue"}, i.SubmitFailed())
	require.Equal(t, Building, i.Phase)
	require.Equal(t, Action{"blocked", "pre_save_submit_budget_exhausted"}, i.SubmitFailed())
	require.Equal(t, Blocked, i.Phase)
	require.Equal(t, "stale", i.SubmitFailed().Do)
	require.Equal(t, "stale", i.Saved("wf_1", true).Do)
	require.Equal(t, Blocked, i.Phase)
}

func TestB129PostSaveBudget(t *testing.T) {
	i := saving()
	i.Take(patch("a"))
	require.Equal(t, Action{Do: "continue"}, i.SubmitFailed())
	require.Equal(t, Action{"blocked", "post_submit_budget_exhausted"}, i.SubmitFailed())
	require.Equal(t, PostSaveBudget, i.Why)
	i = saving()
	for _, signature := range []string{"a", "b"} {
		require.Equal(t, "patch", i.Take(patch(signature)).Do)
		require.Equal(t, "verify", i.Saved("wf_1", true).Do)
	}
	require.Equal(t, Action{"blocked", "post_submit_budget_exhausted"}, i.Take(patch("c")))
}

func TestB130Verified(t *testing.T) {
	for _, verdict := range []string{Verified, TriggerOnly} {
		i := saving()
		require.Equal(t, Action{Do: "done"}, i.Take(Report{Verdict: verdict}))
		require.Equal(t, Done, i.Phase)
	}
}

func TestB131NeedsPatch(t *testing.T) {
	i := saving()
	require.Equal(t, Action{"patch", "node Set: the field is null use body.name"}, i.Take(Report{Verdict: NeedsPatch, Signature: "s", Node: "Set", Diagnosis: "the field is null", Patch: "use body.name"}))
	require.Equal(t, Repairing, i.Phase)
	i = saving()
	require.Contains(t, i.Take(Report{Verdict: NeedsRebuild, Signature: "s"}).Detail, "node unknown")
}

func TestB132RepeatedSignature(t *testing.T) {
	i := saving()
	i.Take(patch("set:null"))
	i.Saved("wf_1", true)
	require.Equal(t, Action{"blocked", "duplicate_failure_signature"}, i.Take(Report{Verdict: NeedsRebuild, Signature: "set:null"}))
	require.Equal(t, Blocked, i.Phase)
}

func TestB133DifferentSignature(t *testing.T) {
	i := saving()
	i.Take(patch("set:null"))
	i.Saved("wf_1", true)
	require.Equal(t, "patch", i.Take(patch("set:type")).Do)
	require.Equal(t, Repairing, i.Phase)
}

// TestStale: a verdict on an older save, or where none is awaited, changes nothing.
func TestStale(t *testing.T) {
	i := saving()
	i.Verify(Verification{Attempted: true, Success: true})
	require.True(t, i.Verification.Success)
	i.Saved("wf_1", true)
	require.False(t, i.Verification.Attempted)
	require.Equal(t, "stale", i.Take(Report{Verdict: Verified}).Do)
	require.Equal(t, Verifying, i.Phase)
	i.Verify(Verification{Attempted: true, Success: true})
	require.Equal(t, "done", i.Take(Report{Verdict: Verified}).Do)
	require.Equal(t, "stale", i.Take(patch("a")).Do)
	require.Equal(t, "stale", i.NeedsInput("x").Do)
	require.Equal(t, Done, i.Phase)
}

func TestBook(t *testing.T) {
	var b Book
	first, second := b.Open(""), b.Open("wf_2")
	require.Equal(t, []string{"wi_1", "wi_2"}, b.IDs())
	require.Same(t, second, b.Find("wi_2"))
	require.Nil(t, b.Find("wi_3"))
	require.Nil(t, b.Of(""))
	require.Same(t, second, b.Of("wf_2"))
	first.Saved("wf_1", false)
	require.Nil(t, b.Of("wf_1"), "one that is done")
}

// TestTable: each row of the table of the build loop, by the phase that it begins in. The
// behaviours B127 to B133 above look at single rows in detail.
func TestTable(t *testing.T) {
	save := func(i *Item) { i.Saved("wf_1", true) }
	fail := func(i *Item) { i.SubmitFailed() }
	take := func(r Report) func(*Item) { return func(i *Item) { i.Take(r) } }
	verdict := func(word string) Report { return Report{Verdict: word, Diagnosis: "the mail account"} }
	for _, test := range []struct {
		name   string
		before []func(*Item)
		event  func(*Item) Action
		phase  Phase
		want   Action
	}{
		{"a first submit fails", nil, (*Item).SubmitFailed, Building, Action{Do: "continue"}},
		{"a second submit fails", []func(*Item){fail}, (*Item).SubmitFailed, Building, Action{Do: "continue"}},
		{"a third submit fails", []func(*Item){fail, fail}, (*Item).SubmitFailed, Blocked, Action{"blocked", PreSaveBudget}},
		{"saved after failures", []func(*Item){fail, fail}, func(i *Item) Action { return i.Saved("wf_1", true) }, Verifying, Action{Do: "verify"}},
		{"saved, cannot be run by hand", nil, func(i *Item) Action { return i.Saved("wf_1", false) }, Done, Action{Do: "done"}},
		{"a repair is saved", []func(*Item){save, take(patch("a"))}, func(i *Item) Action { return i.Saved("wf_1", true) }, Verifying, Action{Do: "verify"}},
		{"a repair cannot be run by hand", []func(*Item){save, take(patch("a"))}, func(i *Item) Action { return i.Saved("wf_1", false) }, Done, Action{Do: "done"}},
		{"building needs a person", nil, func(i *Item) Action { return i.NeedsInput("a channel") }, Blocked, Action{"blocked", "a channel"}},
		{"the verdict of a building item needs a person", nil, func(i *Item) Action { return i.Take(verdict(NeedsUserInput)) }, Blocked, Action{"blocked", "needs_user_input: the mail account"}},
		{"verifying needs a person", []func(*Item){save}, func(i *Item) Action { return i.Take(verdict(NeedsUserInput)) }, Blocked, Action{"blocked", "needs_user_input: the mail account"}},
		{"repairing needs a person", []func(*Item){save, take(patch("a"))}, func(i *Item) Action { return i.Take(verdict(NeedsUserInput)) }, Blocked, Action{"blocked", "needs_user_input: the mail account"}},
		{"verified", []func(*Item){save}, func(i *Item) Action { return i.Take(verdict(Verified)) }, Done, Action{Do: "done"}},
		{"only the trigger runs", []func(*Item){save}, func(i *Item) Action { return i.Take(verdict(TriggerOnly)) }, Done, Action{Do: "done"}},
		{"patch", []func(*Item){save}, func(i *Item) Action { return i.Take(patch("a")) }, Repairing, Action{"patch", "node unknown:  "}},
		{"rebuild", []func(*Item){save}, func(i *Item) Action {
			return i.Take(Report{Verdict: NeedsRebuild, Signature: "a", Node: "Set", Diagnosis: "d", Patch: "p"})
		}, Repairing, Action{"rebuild", "node Set: d p"}},
		{"a failure that was repaired before", []func(*Item){save, take(patch("a")), save}, func(i *Item) Action { return i.Take(patch("a")) }, Blocked, Action{"blocked", DuplicateSignature}},
		{"two repairs are used, verifying", []func(*Item){save, take(patch("a")), save, take(patch("b")), save}, func(i *Item) Action { return i.Take(patch("c")) }, Blocked, Action{"blocked", PostSaveBudget}},
		{"two repairs are used, repairing", []func(*Item){save, take(patch("a")), fail}, (*Item).SubmitFailed, Blocked, Action{"blocked", PostSaveBudget}},
		{"a failed and a saved repair are two", []func(*Item){save, take(patch("a")), fail, save}, func(i *Item) Action { return i.Take(patch("b")) }, Blocked, Action{"blocked", PostSaveBudget}},
		{"cannot be repaired", []func(*Item){save}, func(i *Item) Action { return i.Take(Report{Verdict: FailedTerminal}) }, Blocked, Action{"blocked", FailedTerminal}},
		{"an older run", []func(*Item){save, func(i *Item) { i.Verify(Verification{Attempted: true}) }, save}, func(i *Item) Action { return i.Take(verdict(NeedsUserInput)) }, Verifying, Action{"stale", "the work item is verifying; this changes nothing"}},
		{"done stays", []func(*Item){save, take(verdict(Verified))}, func(i *Item) Action { return i.Take(verdict(NeedsUserInput)) }, Done, Action{"stale", "the work item is done; this changes nothing"}},
		{"a verdict while it is repaired", []func(*Item){save, take(patch("a"))}, func(i *Item) Action { return i.Take(verdict(Verified)) }, Repairing, Action{"stale", "the work item is repairing; this changes nothing"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := new(Book).Open("")
			for _, before := range test.before {
				before(i)
			}
			require.Equal(t, test.want, test.event(i))
			require.Equal(t, test.phase, i.Phase)
			if test.want.Do == "blocked" {
				require.Equal(t, test.want.Detail, i.Why)
			}
		})
	}
}
