package agent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
)

// goldenTask is what this test reads of a scripted task of the conformance data.
type goldenTask struct {
	ID, Mode, Title string
	UserRequest     string `json:"user_request"`
	World           struct {
		Counts    map[string]map[string]int64
		JobStatus []string `json:"job_status_sequence"`
	}
	Faults []struct {
		Tool, Kind string
		MS         int
	}
	Budgets struct {
		MaxSteps     int `json:"max_steps"`
		MaxToolCalls int `json:"max_tool_calls"`
		MaxSeconds   int `json:"max_seconds"`
	}
	Script []struct {
		Emit  json.RawMessage
		Model string
		At    string
	}
	Followups []struct{ Reply string } `json:"user_followups"`
	Expect    struct {
		Status     string
		StopReason string   `json:"stop_reason"`
		Numbers    []int64  `json:"answer_numbers"`
		Contains   []string `json:"answer_contains_any"`
		Signals    map[string]any
	}
}

// TestScriptedGoldens runs the scripted tasks of the conformance data with the machine and a minimal
// driver.
func TestScriptedGoldens(t *testing.T) {
	tasks := testkit.Conformance[goldenTask](t, "golden-tasks.jsonl", "mode", "scripted")
	require.GreaterOrEqual(t, len(tasks), 8)
	for _, task := range tasks {
		t.Run(task.ID+"_"+task.Title, func(t *testing.T) {
			d := &goldenDriver{t: t, task: task, signals: map[string]float64{}, at: testStart}
			f := d.run()
			require.Equal(t, task.Expect.Status, string(f.Status))
			require.Equal(t, task.Expect.StopReason, string(f.StopReason))
			for _, n := range task.Expect.Numbers {
				require.Contains(t, f.Answer, strconv.FormatInt(n, 10))
			}
			for _, text := range task.Expect.Contains {
				require.Contains(t, f.Answer, text)
			}
			for name, want := range task.Expect.Signals {
				checkSignal(t, name, want, d.signals[name])
			}
		})
	}
}

func checkSignal(t *testing.T, name string, want any, got float64) {
	switch want := want.(type) {
	case bool:
		require.Equal(t, want, got > 0, name)
	case float64:
		require.Equal(t, want, got, name)
	case string:
		least, err := strconv.ParseFloat(strings.TrimPrefix(want, ">="), 64)
		require.NoError(t, err, name)
		require.GreaterOrEqual(t, got, least, name)
	default:
		t.Fatalf("signal %s: condition %v", name, want)
	}
}

type goldenDriver struct {
	t       *testing.T
	task    goldenTask
	signals map[string]float64
	at      time.Time
	asked   int
}

func (d *goldenDriver) run() Finish {
	p := Params{Request: d.task.UserRequest, Tools: testTools(d.t), Budgets: guard.Budgets{
		MaxSteps: d.task.Budgets.MaxSteps, MaxToolCalls: d.task.Budgets.MaxToolCalls, MaxTime: time.Duration(d.task.Budgets.MaxSeconds) * time.Second,
	}}
	for _, s := range d.task.Script {
		p.Rescue = p.Rescue || s.Model == "rescue"
	}
	m, err := New("contract", p, nil)
	require.NoError(d.t, err)
	for ready := m.Step(Started{At: d.at}); ; {
		switch c := ready.Commands[0].(type) {
		case CallModel:
			ready = m.Step(ModelReplied{At: d.at, ID: c.ID, Reply: d.reply(c)})
			d.judged(*ready.Judgement)
		case CallTool:
			ready = m.Step(ToolReturned{At: d.at, ID: c.ID, Result: d.tool(c)})
		case AskUser:
			reply := UserReplied{At: d.at, ID: c.ID, Silent: d.asked >= len(d.task.Followups)}
			if !reply.Silent {
				reply.Text = d.task.Followups[d.asked].Reply
			}
			d.asked++
			ready = m.Step(reply)
		case Finish:
			d.signals["elapsed_seconds"] = ready.Used.Elapsed.Seconds()
			require.Equal(d.t, d.signals["model_calls"], float64(ready.Used.Steps))
			require.Equal(d.t, d.signals["tool_executions"], float64(ready.Used.ToolCalls))
			return c
		}
	}
}

func (d *goldenDriver) reply(c CallModel) providers.Reply {
	n := int(d.signals["model_calls"])
	require.Less(d.t, n, len(d.task.Script), "the script has no more replies")
	step := d.task.Script[n]
	d.signals["model_calls"]++
	switch c.Kind {
	case turn.KindReflect:
		d.signals["reflect_turns"]++
	case turn.KindRescue:
		d.signals["rescue_turns"]++
	}
	require.Equal(d.t, step.Model == "rescue", c.Kind == turn.KindRescue, "reply %d", n+1)
	if step.At == "reflect" {
		require.Equal(d.t, turn.KindReflect, c.Kind, "reply %d", n+1)
	}
	text := string(step.Emit)
	if strings.HasPrefix(text, `"`) {
		require.NoError(d.t, json.Unmarshal(step.Emit, &text))
	}
	return providers.Reply{Text: text, Finish: providers.FinishStop}
}

func (d *goldenDriver) judged(j Judgement) {
	for name, set := range map[string]bool{
		"thrash": j.Thrash, "stall": j.Stall, "repaired": j.Repaired, "valid_raw": j.ContractValid, "violations": !j.Actionable && !j.Repaired,
	} {
		if set {
			d.signals[name]++
		}
	}
}

func (d *goldenDriver) tool(c CallTool) tool.Result {
	if c.Deduped {
		d.signals["dedupe_hits"]++
	}
	if c.Given != nil {
		return *c.Given
	}
	d.signals["tool_executions"]++
	for _, f := range d.task.Faults {
		if f.Tool == c.Call.Name && f.Kind == "latency" {
			d.at = d.at.Add(time.Duration(f.MS) * time.Millisecond)
		}
	}
	switch c.Call.Name {
	case "get_counts":
		var args struct {
			Start string `json:"start_date"`
			End   string `json:"end_date"`
			Label string
		}
		require.NoError(d.t, json.Unmarshal(c.Call.Args, &args))
		require.Equal(d.t, args.Start, args.End, "this driver sums no ranges")
		return tool.Result{Outcome: tool.OK, Value: fmt.Appendf(nil, `{"label":%q,"value":%d}`, args.Label, d.task.World.Counts[args.Start][args.Label])}
	case "get_job_status":
		n := min(int(d.signals["tool_executions"]), len(d.task.World.JobStatus))
		return tool.Result{Outcome: tool.OK, Value: fmt.Appendf(nil, "%q", d.task.World.JobStatus[n-1])}
	}
	d.t.Fatalf("no tool %q", c.Call.Name)
	return tool.Result{}
}
