package playbook

import "slices"

// prune removes the names that no remaining step uses; after are the uses of the steps
// behind the block.
func (p *Play) prune(steps []step, f *frame, after []string) {
	if f.At < 0 || f.At > len(steps) {
		return
	}
	live := slices.Concat(after, p.hands)
	for _, s := range steps[f.At:] {
		live = append(live, s.uses...)
	}
	for name := range f.Env {
		if !slices.Contains(live, name) {
			delete(f.Env, name)
		}
	}
	if len(f.Sub) > 0 && f.At < len(steps) {
		for _, sub := range f.Sub {
			p.pruneSub(&steps[f.At], sub, live)
		}
	}
}

// pruneSub removes names from a block of a step. Those that the step binds are needed
// if anything behind it needs them.
func (p *Play) pruneSub(s *step, f *frame, live []string) {
	block := s.block
	switch {
	case s.kind == aCall && s.onError != nil:
		block = *s.onError
	case s.kind == anIf:
		return // which of its blocks it is in depends on values
	}
	p.prune(block, f, live)
}
