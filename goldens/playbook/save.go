package playbook

import "github.com/cupel-eval/cupel/goldens/internal/expression"

// prune removes the values that no remaining step reads. after are the reads of the steps after
// the block.
func prune(steps []step, f *frame, after expression.Need) {
	if f.At < 0 || f.At > len(steps) {
		return
	}
	if f.At < len(steps) {
		behind := readsOf(after, steps[f.At+1:])
		for _, sub := range f.Sub {
			if len(steps[f.At].parts) == 0 { // else its values are few
				pruneSub(&steps[f.At], sub, behind)
			}
		}
	}
	if f.Env != nil {
		f.Env = readsOf(after, steps[f.At:]).Trim(map[string]any(f.Env)).(map[string]any)
	}
}

// pruneSub removes the values that are not read from a block of a step. Later steps read the names
// that it binds, and lists of them if the step is an each.
func pruneSub(s *step, f *frame, behind expression.Need) {
	block, after := s.block, expression.Need{}
	for _, name := range s.binds {
		if need, ok := behind[name]; ok && s.kind == anEach {
			after[name] = need.Element()
		} else if ok {
			after[name] = need
		}
	}
	switch {
	case s.kind == aCall && s.onError != nil:
		block = *s.onError
	case s.kind == anIf:
		return // the values decide which of its blocks it is in
	}
	prune(block, f, after)
}

// readsOf returns the reads of steps together with after, the reads of those after them.
func readsOf(after expression.Need, steps []step) expression.Need {
	all := after
	for _, s := range steps {
		all = all.With(s.reads)
	}
	return all
}
