package harness

import (
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
)

// takeUpAnswers keeps what was said in the episodes that are not run again.
func (r *runner) takeUpAnswers(s *store) error {
	list, err := episode.ReadAnswers(s.dir)
	if err != nil || len(list) == 0 {
		return err
	}
	done := map[string]bool{}
	for i := range s.plan.len() {
		done[s.plan.name(i)] = !s.todo[i]
	}
	for _, a := range list {
		if done[drive.EpisodeName(a.Task, a.Candidate, a.Trial)] {
			r.answers.Take(a)
		}
	}
	return nil
}
