package ledger

import (
	"cmp"
	"errors"
	"fmt"
)

// place is the position of an episode in ledger order.
type place struct {
	task, candidate string
	trial           int32
}

func (k *Key) place() place { return place{k.TaskID, k.Candidate, k.Trial} }

func (p place) String() string {
	return fmt.Sprintf("%q, candidate %q, trial %d", p.task, p.candidate, p.trial)
}

// Compare orders keys by task, candidate (both by bytes) and trial, which is ledger order. It
// returns 0 for rows of one episode.
func (k Key) Compare(o Key) int { return k.place().compare(o.place()) }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.task, q.task), cmp.Compare(p.candidate, q.candidate), cmp.Compare(p.trial, q.trial))
}

// order checks that episodes follow in ledger order. The zero value is ready for the first one.
type order struct {
	last place
	any  bool
}

func (o *order) next(p place) error {
	if o.any && o.last.compare(p) >= 0 {
		return fmt.Errorf("episode of task %v comes after that of task %v: a ledger is sorted by task, candidate and trial", p, o.last)
	}
	o.last, o.any = p, true
	return nil
}

// check returns an error if the rows do not belong to one episode or are not sorted.
func (rec *EpisodeRows) check() error {
	p := rec.Episode.place()
	var errs [2]error
	errs[0] = checkRows(p, "turn", rec.Turns, func(t *Turn) int32 { return t.Turn })
	errs[1] = checkRows(p, "tool call", rec.ToolCalls, func(c *ToolCall) int32 { return c.Seq })
	return errors.Join(errs[:]...)
}

func checkRows[T any, P record[T]](p place, what string, rows []T, number func(*T) int32) error {
	for i := range rows {
		if q := P(&rows[i]).key().place(); q != p {
			return fmt.Errorf("%s of task %v among the rows of task %v", what, q, p)
		}
		if i > 0 && number(&rows[i-1]) >= number(&rows[i]) {
			return fmt.Errorf("%s %d after %d in the episode of task %v", what, number(&rows[i]), number(&rows[i-1]), p)
		}
	}
	return nil
}
