package sim

import (
	"crypto/sha256"
	"encoding/binary"
)

// spread is how much the rates of slips differ between tasks. For a share hard of all
// tasks they are multiplied by times, and for the others by less than 1, so that the
// mean over tasks is the rate in the profile. hard is in [0,1), and hard·times at most
// 1. The zero value means that all tasks are equally hard.
type spread struct{ hard, times float64 }

// factor multiplies the rates of slips of a model in one task. It depends on the model
// and on the text of the user's request alone: not on the seed, the trial or the
// protocol. So a task that is hard for a model is hard in every trial.
func (s spread) factor(model, request string) float64 {
	sum := sha256.Sum256([]byte("cupel sim task 1\n" + model + "\n" + request))
	if float64(binary.BigEndian.Uint64(sum[:])>>11)/(1<<53) < s.hard {
		return s.times
	}
	return (1 - s.hard*s.times) / (1 - s.hard)
}
