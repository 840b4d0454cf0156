package playbook

import "github.com/cupel-eval/cupel/goldens/internal/expression"

// prune removes what no remaining step reads; after is what the steps behind the block
// read.
func prune(steps []step, f *frame, after expression.Need) {
	if f.At < 0 || f.At > len(steps) {
		return
	}
	if f.At < len(steps) {
		behind := readsOf(after, steps[f.At+1:])
		for _, sub := range f.Sub {
			pruneSub(&steps[f.At], sub, behind)
		}
	}
	if f.Env != nil {
		f.Env = readsOf(after, steps[f.At:]).Trim(map[string]any(f.Env)).(map[string]any)
	}
}

// pruneSub removes what is not read from a block of a step. Of the names it binds, that is
// what the steps behind it read; of those of an each, they read lists.
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
		return // which of its blocks it is in depends on values
	}
	prune(block, f, after)
}

// readsOf is what steps read, besides what is read after them.
func readsOf(after expression.Need, steps []step) expression.Need {
	all := after
	for _, s := range steps {
		all = all.With(s.reads)
	}
	return all
}
