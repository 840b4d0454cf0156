package drive

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/orchestrator/worklog"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger/work"
)

// working is a machine that reports tasks in two steps, nothing in a third, and ends.
type working struct {
	tasks [][]worklog.Task
	step  int
}

func (m *working) Step(agent.Event) agent.Ready {
	r := agent.Ready{Commands: []agent.Command{agent.Wait{ID: m.step + 1, For: time.Second}}, Tasks: m.tasks[m.step]}
	if m.step++; m.step == len(m.tasks) {
		r.Commands = []agent.Command{finish}
	}
	return r
}

// The row has the tasks that the machine reported last, bounded.
func TestTasksOfAnEpisode(t *testing.T) {
	begun := worklog.Task{ID: "a", Plan: 1, Kind: "delegate", Title: strings.Repeat("ü", 500), Agent: "bg_1", State: "running", Start: start}
	ended := begun
	ended.State, ended.Reason, ended.End = "failed", "max_turns", start.Add(time.Second)
	many := []worklog.Task{ended}
	for i := range 600 {
		many = append(many, worklog.Task{ID: fmt.Sprint(i), State: "planned"})
	}
	e := testEpisodeWith(&working{tasks: [][]worklog.Task{{begun}, many, nil}}, approved(nil, goldens.ApproveAlways, nil).Task.World)
	e.drive(context.Background())
	got := e.rows.episode(*e.finish, goldens.Outcome{}, "").Episode.Tasks
	require.Len(t, got, maxTasks)
	require.Less(t, len(got[0].Title), 210)
	got[0].Title = ""
	require.Equal(t, work.Task{ID: "a", Plan: 1, Kind: "delegate", SubAgent: "bg_1", State: "failed", Reason: "max_turns",
		TsStart: new(start.UnixMicro()), TsEnd: new(start.Add(time.Second).UnixMicro())}, got[0])
	require.Equal(t, work.Task{ID: "0", State: "planned"}, got[1])
}
