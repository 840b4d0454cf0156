package model

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"time"

	"github.com/cupel-eval/cupel/goldens/playbook/mistake"
)

// Profile is one simulated model: how often it slips, how it talks about its own certainty, and how long it
// takes. All rates are probabilities in [0,1]; those of slips are means over tasks.
type Profile struct {
	// Name is the name that requests have, Served the one in replies.
	Name, Served string
	Latency      Latency

	// form are slips in the form of a contract object, decision slips in its content.
	// Each turn draws at most one of either; one that does not fit the turn (a wrong
	// argument when nothing is called) does not happen, nor does a slip of form that the
	// output mode rules out: JSON modes rule out fenced and prose, a tool that must be
	// called everything but truncated.
	form     []Rate[formSlip]
	decision []Rate[slip]
	// native are slips in native calls, text those in the text protocol and planning
	// those in plans. Each turn draws at most one, from the table of its protocol.
	native   []Rate[nativeSlip]
	text     []Rate[textSlip]
	planning []Rate[planSlip]
	// acting are mistakes on an automation instance. Each turn draws at most one, besides the others.
	acting []Rate[mistake.Kind]
	// parallel reports that the model calls several tools in one turn.
	parallel bool
	// spread makes a share of the tasks hard: all slips of the tables above are more
	// frequent in these tasks, in every trial, and less frequent in the others.
	spread spread
	// careful multiplies the rates of slips of form after a violation was reported, and
	// the rate of repeating a call after a REFLECT line.
	careful float64
	// trusting is the chance, per turn, of doing what an instruction inside a result says,
	// if there is one, and that of taking a result about something else for the wanted one.
	trusting float64
	// idle reports that the model ends immediately without an answer.
	idle bool
	// confidence is what the model reports, in hundredths.
	confidence confidence
}

// Rate is the probability of one kind of slip.
type Rate[K any] struct {
	Kind K
	P    float64
}

// confidence is in hundredths: right when the turn has no slip, slipped when it has one,
// unsure when the model gives up; each ± spread, uniformly.
type confidence struct{ right, slipped, unsure, spread int }

// Profiles are the models that follow playbooks, those that are meant to be compared first, strongest first.
// The table is the documentation of their rates; a test checks the replies against it.
var Profiles = []Profile{
	{
		Name: "sim-strong", Served: "sim-strong-2026-11",
		form: []Rate[formSlip]{ // 0.3 % of turns
			{fenced, 0.001}, {prose, 0.001}, {missingField, 0.0005}, {badConfidence, 0.0005},
		},
		decision: []Rate[slip]{ // 0.3 % of turns
			{wrongArgument, 0.0008}, {wrongCall, 0.0002}, {repeatCall, 0.0005}, {forgetCall, 0.0003}, {answerEarly, 0.0003},
			{wrongNumber, 0.0003}, {needlessQuestion, 0.0004}, {claimDone, 0.0001}, {forbiddenChange, 0.0001},
		},
		native: []Rate[nativeSlip]{ // 0.4 % of turns
			{cutArguments, 0.0005}, {unknownTool, 0.0005}, {missingArgument, 0.0005}, {announce, 0.0005},
			{emptyReply, 0.0005}, {finalAsText, 0.001}, {wrongType, 0.0005},
		},
		text: []Rate[textSlip]{{noInput, 0.001}, {chatter, 0.001}, {noLines, 0.001}}, // 0.3 % of turns
		planning: []Rate[planSlip]{ // 0.8 % of plans
			{cyclic, 0.001}, {unknownStep, 0.001}, {duplicateStep, 0.001}, {unknownTools, 0.001},
			{brokenSchema, 0.001}, {noSteps, 0.001}, {fencedPlan, 0.001}, {prosePlan, 0.001},
		},
		acting:   mistakes(0.001),
		parallel: true,
		spread:   spread{hard: 0.1, times: 3}, // 0.78 times in the other tasks
		careful:  0.3, trusting: 0.02,
		confidence: confidence{right: 93, slipped: 64, unsure: 55, spread: 5},
		Latency:    Latency{900 * time.Millisecond, 0.30, 8 * time.Millisecond},
	},
	{
		Name: "sim-erratic", Served: "sim-erratic-2026-11",
		form: []Rate[formSlip]{ // 9 % of turns, most of them repairable
			{fenced, 0.045}, {prose, 0.025}, {truncated, 0.004}, {missingField, 0.006},
			{extraKey, 0.005}, {wrongCase, 0.003}, {badConfidence, 0.002},
		},
		decision: []Rate[slip]{ // 16.5 % of turns
			{wrongArgument, 0.03}, {wrongCall, 0.005}, {repeatCall, 0.05}, {forgetCall, 0.01}, {answerEarly, 0.015},
			{wrongNumber, 0.012}, {needlessQuestion, 0.033}, {claimDone, 0.005}, {forbiddenChange, 0.005},
		},
		native: []Rate[nativeSlip]{ // 9 % of turns
			{cutArguments, 0.015}, {unknownTool, 0.01}, {missingArgument, 0.015}, {announce, 0.01},
			{emptyReply, 0.01}, {finalAsText, 0.02}, {wrongType, 0.01},
		},
		text: []Rate[textSlip]{{noInput, 0.03}, {chatter, 0.04}, {noLines, 0.02}}, // 9 % of turns
		planning: []Rate[planSlip]{ // 16 % of plans
			{cyclic, 0.02}, {unknownStep, 0.02}, {duplicateStep, 0.02}, {unknownTools, 0.03},
			{brokenSchema, 0.02}, {noSteps, 0.01}, {fencedPlan, 0.03}, {prosePlan, 0.01},
		},
		acting:   mistakes(0.02),
		parallel: true,
		spread:   spread{hard: 0.2, times: 3}, // 0.5 times in the other tasks
		careful:  0.4, trusting: 0.30,
		confidence: confidence{right: 84, slipped: 62, unsure: 52, spread: 9},
		Latency:    Latency{450 * time.Millisecond, 0.55, 4 * time.Millisecond},
	},
	{
		Name: "sim-weak", Served: "sim-weak-2026-11",
		form: []Rate[formSlip]{ // 18 % of turns
			{fenced, 0.05}, {prose, 0.04}, {truncated, 0.04}, {missingField, 0.02},
			{extraKey, 0.01}, {wrongCase, 0.01}, {badConfidence, 0.01},
		},
		decision: []Rate[slip]{ // 39 % of turns
			{wrongArgument, 0.085}, {wrongCall, 0.02}, {repeatCall, 0.1}, {forgetCall, 0.03}, {answerEarly, 0.05},
			{wrongNumber, 0.035}, {needlessQuestion, 0.055}, {claimDone, 0.01}, {forbiddenChange, 0.005},
		},
		native: []Rate[nativeSlip]{ // 20 % of turns
			{cutArguments, 0.03}, {unknownTool, 0.03}, {missingArgument, 0.03}, {announce, 0.03},
			{emptyReply, 0.02}, {finalAsText, 0.03}, {wrongType, 0.03},
		},
		text: []Rate[textSlip]{{noInput, 0.06}, {chatter, 0.08}, {noLines, 0.06}}, // 20 % of turns
		planning: []Rate[planSlip]{ // 36 % of plans
			{cyclic, 0.04}, {unknownStep, 0.05}, {duplicateStep, 0.04}, {unknownTools, 0.06},
			{brokenSchema, 0.04}, {noSteps, 0.03}, {fencedPlan, 0.06}, {prosePlan, 0.04},
		},
		acting:  mistakes(0.04),
		spread:  spread{hard: 0.3, times: 2.2}, // 0.49 times in the other tasks
		careful: 0.6, trusting: 0.80,
		// Over-confident: wrong turns sound almost like right ones.
		confidence: confidence{right: 91, slipped: 84, unsure: 76, spread: 6},
		Latency:    Latency{220 * time.Millisecond, 0.45, 2 * time.Millisecond},
	},
	{
		Name: "sim-oracle", Served: "sim-oracle-2026-11", parallel: true,
		confidence: confidence{right: 97, slipped: 97, unsure: 97, spread: 2},
		Latency:    Latency{600 * time.Millisecond, 0.20, 5 * time.Millisecond},
	},
	{
		Name: "sim-nop", Served: "sim-nop-2026-11", idle: true,
		confidence: confidence{right: 50, slipped: 50, unsure: 50, spread: 2},
		Latency:    Latency{50 * time.Millisecond, 0.10, time.Millisecond},
	},
}

// mistakes gives all mistakes on an automation instance the same rate.
func mistakes(p float64) (out []Rate[mistake.Kind]) {
	for _, k := range mistake.Kinds {
		out = append(out, Rate[mistake.Kind]{k, p})
	}
	return out
}

// Latency is how long a model takes. It is lognormal: Median × exp(Sigma × N(0,1)),
// |N| ≤ 3, plus PerToken for every token of output.
type Latency struct {
	Median   time.Duration
	Sigma    float64
	PerToken time.Duration
}

// Draw is the time one reply takes, times scale and at most an hour. normal is standard normal.
func (l Latency) Draw(normal float64, outputTokens int, scale float64) time.Duration {
	d := float64(l.Median)*math.Exp(l.Sigma*normal) + float64(l.PerToken)*float64(outputTokens)
	return time.Duration(min(d*scale, float64(time.Hour)))
}

// spread is how much the rates of slips differ between tasks. For a share hard of all tasks they are
// multiplied by times, and for the others by less than 1, so that the mean over tasks is the rate in the
// profile. hard is in [0,1), and hard·times at most 1. The zero value means that all tasks are equally hard.
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

// decisionScale multiplies the rates of decision slips: by how hard the task is, and by
// careful for a repeated call after a REFLECT line.
func (t *turn) decisionScale() func(slip) float64 {
	scale := t.profile.spread.factor(t.profile.Name, t.view.request)
	return func(s slip) float64 {
		if s == repeatCall && t.view.reflect {
			return scale * t.profile.careful
		}
		return scale
	}
}

// formScale multiplies the rates of slips of form, in any protocol: by how hard the task
// is, and by careful after a violation.
func formScale[K any](t *turn) func(K) float64 {
	scale := t.profile.spread.factor(t.profile.Name, t.view.request)
	if t.view.violated {
		scale *= t.profile.careful
	}
	return func(K) float64 { return scale }
}

// draw is a confidence in hundredths.
func (c confidence) draw(unsure, slipped bool, bits uint64) int {
	base := c.right
	switch {
	case slipped:
		base = c.slipped
	case unsure:
		base = c.unsure
	}
	return max(1, min(99, base-c.spread+int(bits%uint64(2*c.spread+1))))
}
