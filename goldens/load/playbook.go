package load

import (
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// Playbook reads the reference solutions of a suite, for its tasks that are not
// scripted. It returns nil if the suite has no playbook.yaml. The error joins a
// *goldens.Problem for every fault, ordered by line.
func Playbook(s *goldens.Suite) (*playbook.Book, error) {
	tasks, err := PlaybookTasks(s)
	if err != nil {
		return nil, err
	}
	var judges []playbook.Judge
	for _, j := range s.Judges {
		judges = append(judges, playbook.Judge{Name: j.Model.Name, Rubric: j.Rubric, Simulated: strings.HasPrefix(j.Model.Provider, "sim-")})
	}
	return playbook.Read(s.FS, s.Path, tasks, judges...)
}

// PlaybookTasks returns what playbooks need to know of the tasks of a suite that are not
// scripted, in the order of the suite.
func PlaybookTasks(s *goldens.Suite) (tasks []playbook.Task, err error) {
	all, err := tool.NewSet(s.Tools)
	if err != nil {
		return nil, err
	}
	for _, t := range s.Tasks {
		if t.Scripted || t.Attack != nil { // an attacked task has the solution of its task
			continue
		}
		task := playbook.Task{ID: t.ID, Request: t.Request, Tools: all.Only(t.Tools), Writes: writesOf(s, t), Each: t.Each, Schema: t.AnswerSchema != nil}
		for _, in := range t.Inputs {
			task.Inputs = append(task.Inputs, in.Name)
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}

// writesOf are the tools that may change the task's world: those whose calls need approval,
// and those with rules that write.
func writesOf(s *goldens.Suite, t goldens.Task) (writes []string) {
	rules, _ := t.World.Maker.(interface{ Writes(tool string) bool })
	for _, spec := range s.Tools {
		if s.Approval(spec.Name) != goldens.ApproveAlways || rules != nil && rules.Writes(spec.Name) {
			writes = append(writes, spec.Name)
		}
	}
	return writes
}
