package instance_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
)

// acts are calls of the tools of the instance that a random model makes, most of them such that a
// person has to approve them.
var acts = [][2]string{
	{"publish-workflow", `{"workflowId":"wf_3"}`}, {"publish-workflow", `{"workflowId":"wf_9"}`}, {"unpublish-workflow", `{"workflowId":"wf_6"}`},
	{"delete-workflow", `{"workflowId":"wf_7"}`}, {"unarchive-workflow", `{"workflowId":"wf_5"}`}, {"delete-credential", `{"credentialId":"cr_5"}`},
	{"run-workflow", `{"workflowId":"wf_7"}`}, {"delete-data-table", `{"dataTableId":"dt_4"}`}, {"delete-folder", `{"folderId":"fd_1"}`},
	{"delete-data-table-column", `{"dataTableId":"dt_4","columnName":"line"}`}, {"setup-credentials", `{"credentialType":"smtp"}`},
	{"delete-data-table-rows", `{"dataTableId":"dt_3","filter":{"filters":[{"columnName":"sku","condition":"eq","value":"CUPS"}]}}`},
	{"fetch-url", `{"url":"https://blog.example.com/beans"}`}, {"tag-workflow", `{"workflowId":"wf_7","tags":["sales"]}`}, {"list-workflows", `{}`},
	{"create-data-table", `{"name":"new","columns":[{"name":"a","type":"string"}]}`}, {"stop-execution", `{"executionId":"ex_1"}`},
	{"build-workflow", `{"code":"{\"name\":\"New\",\"nodes\":[{\"name\":\"Go\",\"type\":\"manual\"}],\"connections\":{}}"}`},
}

// orders are calls of an orchestrator's own tools.
var orders = [][2]string{
	{"plan", `{"tasks":[{"id":"a","title":"A","kind":"delegate","spec":"Do A.","deps":[],"tools":["publish-workflow","delete-workflow","delete-credential","run-workflow"]},{"id":"b","title":"B","kind":"manage-data-tables","spec":"Do B.","deps":[]},{"id":"c","title":"C","kind":"research","spec":"Do C.","deps":["a"]},{"id":"d","title":"D","kind":"build-workflow","spec":"Do D.","deps":["b"]}]}`},
	{"plan", `{"tasks":[{"id":"x","title":"X","kind":"manage-data-tables","spec":"Do X.","deps":[]},{"id":"y","title":"Y","kind":"manage-data-tables","spec":"Do Y.","deps":["x"]}]}`},
	{"delegate", `{"role":"cleaner","instructions":"Clean.","briefing":"Clean up.","tools":["delete-workflow","delete-folder","unpublish-workflow","tag-workflow"]}`},
	{"build-workflow-with-agent", `{"task":"Build New."}`}, {"build-workflow-with-agent", `{"task":"Build another.","workflowId":"wf_7"}`},
	{"cancel-background-task", `{"taskId":"bg_1"}`}, {"correct-background-task", `{"taskId":"bg_2","correction":"Use another name."}`},
}

// random is a model of OpenAI's chat completions that calls tools at random: what it says depends on
// the request alone.
func random(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	hash := fnv.New64a()
	hash.Write(body)
	draw := rand.New(rand.NewPCG(hash.Sum64(), 3)).IntN
	var request struct {
		Tools []struct{ Function struct{ Name string } }
	}
	_ = json.Unmarshal(body, &request)
	may := acts
	if strings.Contains(string(body), `"plan"`) && draw(2) == 0 {
		may = orders
	}
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	message := map[string]any{"role": "assistant", "content": fmt.Sprint("That is answer ", draw(99), ".")}
	var calls []call
	for i := range draw(5) - 1 {
		pick := may[draw(len(may))]
		for range 20 { // most calls are of tools that are offered
			if draw(10) == 0 || strings.Contains(string(body), `"`+pick[0]+`"`) {
				break
			}
			pick = may[draw(len(may))]
		}
		calls = append(calls, call{fmt.Sprintf("call_%d_%d", draw(1_000_000), i), "function", function{pick[0], pick[1]}})
	}
	finish := "stop"
	if len(calls) > 0 {
		message["tool_calls"], finish = calls, "tool_calls"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "r", "object": "chat.completion", "model": "random", "usage": map[string]int{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
	})
}

// rules are random people: some approve, some decline, some do neither, and some take their time.
var rules = [][]human.Rule{
	{{Say: "approve"}},
	{{Say: "deny"}},
	{{When: human.When{Kind: "plan_review"}, Say: "approve"}},
	{{When: human.When{Kind: "plan_review"}, Say: "approve"}, {When: human.When{Tool: "delete-workflow"}, Say: "approve", After: 9e9}, {When: human.When{Tool: "publish-workflow"}, Say: "deny", Times: 1}, {Say: "approve", Times: 3}, {Say: "skip"}, {Say: "deny"}},
	{{When: human.When{Kind: "plan_review", Nth: 1}, Say: "feedback", Text: "Otherwise."}, {When: human.When{Tool: "delete-credential"}, Say: "deny"}, {Say: "approve", After: 30e9}},
}

// TestRandomModelsNeedApproval: whatever models call, with people who approve, decline, wait or say
// nothing, no call that needs an approval changes the instance without one, nothing of a plan begins
// before its review, each request is answered or named as awaited, and a replay on one processor has
// the same rows as one of many episodes at once.
func TestRandomModelsNeedApproval(t *testing.T) {
	s := loaded(t)
	base := s.Tasks[slices.IndexFunc(s.Tasks, func(task goldens.Task) bool { return task.ID == "I05" })]
	s.Tasks = nil
	for i, human := range rules {
		task := base
		task.ID, task.Human, task.Expect = fmt.Sprintf("R%d", i), human, []goldens.Expect{{Status: base.Expect[0].Status}}
		s.Tasks = append(s.Tasks, task)
	}
	prices, err := price.Default()
	require.NoError(t, err)
	var candidates []goldens.Candidate
	for _, agent := range []string{"orchestrator", "orchestrator", "tools"} {
		candidates = append(candidates, goldens.Candidate{Name: fmt.Sprintf("%s%d", agent, len(candidates)), Agent: agent, Provider: "sim-openai", Model: fmt.Sprintf("random-%d", len(candidates))})
	}
	trials, cassettes := testkit.Long(testkit.SlowN(1, 2), 200), t.TempDir()
	models := testkit.Handled(http.HandlerFunc(random))
	o := harness.Options{
		Matrix: harness.Matrix{Suite: s, Seed: 1, Trials: trials, Candidates: candidates},
		Rules:  harness.Rules{Policy: policy.Default(), Prices: prices}, Recording: harness.Recording{Mode: recorder.Record, CassetteDir: cassettes},
		Parts: harness.Parts{Providers: all.Factories(), Transport: func(string) http.RoundTripper { return models }},
	}
	res, err := harness.Run(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, res.Rows.Episodes, len(candidates)*len(s.Tasks)*trials)
	seen := map[string]int{}
	for _, e := range res.Rows.Episodes {
		checkApprovals(t, s, e, slices.DeleteFunc(slices.Clone(res.Rows.ToolCalls), func(c ledger.ToolCall) bool { return c.EpisodeID != e.EpisodeID }), seen)
	}
	for _, what := range []string{"approved", "declined", "awaited", "planned", "overlapping"} {
		require.Positive(t, seen[what], what)
	}

	o.Recording, o.Transport = harness.Recording{Cassettes: os.DirFS(cassettes)}, nil
	one := func() ledger.Rows {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		o := o
		o.Concurrency = 1
		res, err := harness.Run(t.Context(), o)
		require.NoError(t, err)
		return res.Rows
	}()
	o.Concurrency = 16
	res, err = harness.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, one.Digest(), res.Rows.Digest())
}

// checkApprovals checks an episode with its calls, and counts in seen what it had.
func checkApprovals(t *testing.T, s *goldens.Suite, e ledger.Episode, calls []ledger.ToolCall, seen map[string]int) {
	t.Helper()
	name := fmt.Sprintf("%s/%s/%d", e.TaskID, e.Candidate, e.Trial)
	require.NotEqual(t, "harness_error", e.Status, "%s: %s", name, e.Answer)
	require.False(t, e.Harm != nil && *e.Harm, "%s: %s", name, e.HarmReason)
	allowed, reviewed := map[[2]string]int{}, []int64{}
	for _, r := range e.Requests {
		switch r.Say {
		case "approve":
			allowed[[2]string{r.SubAgent, r.Tool}]++
			if r.Kind == "plan_review" {
				reviewed = append(reviewed, r.TsAsked+r.WaitUs)
			}
		case "deny":
			seen["declined"]++
		case "":
			require.False(t, e.Status == "answered" && strings.HasPrefix(e.Candidate, "orchestrator"), "%s: %s is still open", name, r.Tool)
			if e.Status == "awaiting_input" {
				require.Contains(t, e.Answer, r.Tool, name)
				seen["awaited"]++
			}
		}
	}
	for _, c := range calls {
		ran := c.Executed && c.Outcome == "ok"
		require.True(t, ran || c.Changes == nil || *c.Changes == 0, "%s: %s was refused and changed something", name, c.ToolName)
		if ran && s.Approval(c.ToolName) == goldens.ApproveAsk {
			by := [2]string{c.SubAgent, c.ToolName}
			allowed[by]--
			require.GreaterOrEqual(t, allowed[by], 0, "%s: %v without approval", name, by)
			seen["approved"]++
		}
	}
	for i, task := range e.Tasks {
		if task.TsStart == nil {
			continue
		}
		if task.Plan > 0 {
			seen["planned"]++
			require.True(t, slices.ContainsFunc(reviewed, func(at int64) bool { return at <= *task.TsStart }), "%s: %s began before its plan was approved", name, task.ID)
		}
		if i > 0 && e.Tasks[i-1].TsStart != nil && (e.Tasks[i-1].TsEnd == nil || *task.TsStart < *e.Tasks[i-1].TsEnd) {
			seen["overlapping"]++
		}
	}
}
