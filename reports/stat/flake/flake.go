// Package flake tells tasks that changed between two runs from tasks that pass and fail at
// random. Its functions are pure.
package flake

import (
	"math/big"
	"strconv"

	"github.com/cupel-eval/cupel/reports/stat"
)

// Stability is what the trials of one task in two runs say of it.
type Stability string

// The classes, in the order their rules are tried; see Classify.
const (
	// Unknown: a run has no trial of the task.
	Unknown Stability = "unknown"
	// NewlyBroken and NewlyFixed: the share of passes changed, beyond chance.
	NewlyBroken Stability = "newly broken"
	NewlyFixed  Stability = "newly fixed"
	// StablePass and StableFail: every trial of both runs came out so.
	StablePass Stability = "stable pass"
	StableFail Stability = "stable fail"
	// Flaky: one run had both outcomes, and no change is shown.
	Flaky Stability = "flaky"
	// Unclear: one run always passed and the other never, in too few trials to
	// tell a change from a flake.
	Unclear Stability = "unclear"
)

// Evidence is a class with what speaks for it.
type Evidence struct {
	Class Stability
	// P is the one-sided p-value of Fisher's exact test in the direction of the
	// change; 1 when the shares are equal or a run has no trial.
	P float64
	// Share is the exact 95 % interval of the share of passes over both runs
	// together, as if nothing had changed; 0…1 when there are no trials.
	Share stat.Interval
}

// Classify sorts a task by its trials before and after. The first rule that holds
// decides:
//
//  1. a run without trials: Unknown;
//  2. a lower (higher) share of passes after, and P ≤ alpha: NewlyBroken
//     (NewlyFixed);
//  3. all trials passed: StablePass; all failed: StableFail;
//  4. both outcomes within one run: Flaky;
//  5. otherwise: Unclear.
//
// A task that did not change is called NewlyBroken with probability alpha at
// most, whatever its share of passes, and NewlyFixed in the same way; over many tasks
// adjust P. Three trials each can show a full turn at 0.05 (P is 1/20 exactly);
// fewer cannot. A task that fails once in a hundred trials is StablePass until it
// is seen to fail: Share says how sure that is. P and alpha are compared as
// rationals. ok is false when trials are not 0 ≤ Passed ≤ N or alpha is not
// strictly between 0 and 1.
//
// R. A. Fisher, "The Logic of Inductive Inference", Journal of the Royal Statistical
// Society 98 (1935) 39–82; the one-sided test keeps its level for each
// share because it does given the number of passes: E. L. Lehmann and J. P.
// Romano, "Testing Statistical Hypotheses", 3rd ed. (2005), section 4.5.
func Classify(before, after stat.Trials, alpha float64) (e Evidence, ok bool) {
	if !before.Valid() || !after.Valid() || !(alpha > 0 && alpha < 1) {
		return Evidence{}, false
	}
	e = Evidence{Class: Unknown, P: 1, Share: stat.Interval{Low: 0, High: 1}}
	passed, n := before.Passed+after.Passed, before.N+after.N
	if iv, ok := stat.ClopperPearson(passed, n, 0.95); ok {
		e.Share = iv
	}
	if before.N == 0 || after.N == 0 {
		return e, true
	}
	fewer := after.Passed*before.N - before.Passed*after.N
	chance := big.NewRat(1, 1)
	if fewer < 0 {
		chance = atMost(after, before)
	} else if fewer > 0 {
		chance = atMost(before, after)
	}
	e.P, _ = chance.Float64()
	mixed := func(t stat.Trials) bool { return 0 < t.Passed && t.Passed < t.N }
	limit, _ := new(big.Rat).SetString(strconv.FormatFloat(alpha, 'g', -1, 64))
	switch {
	case fewer < 0 && chance.Cmp(limit) <= 0:
		e.Class = NewlyBroken
	case fewer > 0 && chance.Cmp(limit) <= 0:
		e.Class = NewlyFixed
	case passed == n:
		e.Class = StablePass
	case passed == 0:
		e.Class = StableFail
	case mixed(before) || mixed(after):
		e.Class = Flaky
	default:
		e.Class = Unclear
	}
	return e, true
}

// atMost is the probability that a has no more than its passes, when the passes
// of both fell on their trials at random.
func atMost(a, b stat.Trials) *big.Rat {
	passed := int64(a.Passed + b.Passed)
	first := max(0, passed-int64(b.N))
	term := new(big.Int).Binomial(int64(a.N), first)
	term.Mul(term, new(big.Int).Binomial(int64(b.N), passed-first))
	ways, factor := new(big.Int), new(big.Int)
	for i := first; i <= int64(a.Passed); i++ {
		ways.Add(ways, term) // C(a.N, i)·C(b.N, passed−i)
		term.Mul(term, factor.SetInt64((int64(a.N)-i)*(passed-i)))
		term.Quo(term, factor.SetInt64((i+1)*(int64(b.N)-passed+i+1)))
	}
	return new(big.Rat).SetFrac(ways, term.Binomial(int64(a.N+b.N), passed))
}
