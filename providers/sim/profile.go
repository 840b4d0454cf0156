package sim

import (
	"time"
)

// profile is one simulated model: how often it slips, how it talks about its
// own certainty, and how long it takes. All rates are probabilities in [0,1]; those of
// slips are means over tasks.
type profile struct {
	name string
	// served is the name in replies.
	served string
	// format are slips in the form of the output, decision slips in its content.
	// Each turn draws at most one of either; a decision slip that does not fit
	// the turn (a wrong label when no label is sent) does not happen, nor does a
	// format slip that the output mode rules out: json_object and json_schema
	// rule out fenced and prose, a forced tool everything but truncated.
	format   []rate[formatSlip]
	decision []rate[decisionSlip]
	// native are slips in native tool calls, text those in the text protocol and
	// planning those in plans. Each turn draws at most one, from the table of its
	// protocol; one that does not fit what is said does not happen.
	native   []rate[nativeSlip]
	text     []rate[textSlip]
	planning []rate[planSlip]
	// parallel says that the model calls several tools in one turn.
	parallel bool
	// spread makes a share of the tasks hard: all slips of the tables above are more
	// frequent in these tasks, in every trial, and less frequent in the others.
	spread spread
	// careful multiplies the rates of slips of form after a violation was reported, and
	// the rate of repeating a call after a REFLECT line.
	careful float64
	// trusting is the chance, per turn, of taking a tool result for the wanted
	// one although its label or dates are others.
	trusting float64
	// languages the model reads; in any other it asks first and then reads only
	// what looks English.
	languages []language
	// confidence is what the model reports, in hundredths.
	confidence confidence
	latency    latency
}

// rate is the probability of one kind of slip.
type rate[K any] struct {
	kind K
	p    float64
}

// confidence is in hundredths: right when the turn has no slip, slipped when it
// has one, unsure when the answer is incomplete; each ± spread, uniformly.
type confidence struct{ right, slipped, unsure, spread int }

// profiles are the models, strongest first. The table is the documentation of
// their rates; TestEmpiricalRates holds the handler to it.
var profiles = []profile{
	{
		name: "sim-strong", served: "sim-strong-2026-11",
		format: []rate[formatSlip]{ // 0.3 % of turns
			{fenced, 0.001}, {prose, 0.001}, {missingField, 0.0005}, {badConfidence, 0.0005},
		},
		decision: []rate[decisionSlip]{ // 0.3 % of turns
			{wrongLabel, 0.0005}, {offByOne, 0.0005}, {repeatCall, 0.0005},
			{needlessClarify, 0.0005}, {skipToday, 0.0005}, {inventNumber, 0.0005},
		},
		native: []rate[nativeSlip]{ // 0.4 % of turns
			{cutArguments, 0.0005}, {unknownTool, 0.0005}, {missingArgument, 0.0005}, {announce, 0.0005},
			{emptyReply, 0.0005}, {finalAsText, 0.001}, {wrongType, 0.0005},
		},
		text: []rate[textSlip]{{noInput, 0.001}, {chatter, 0.001}, {noLines, 0.001}}, // 0.3 % of turns
		planning: []rate[planSlip]{ // 0.8 % of plans
			{cyclic, 0.001}, {unknownStep, 0.001}, {duplicateStep, 0.001}, {unknownTools, 0.001},
			{brokenSchema, 0.001}, {noSteps, 0.001}, {fencedPlan, 0.001}, {prosePlan, 0.001},
		},
		parallel: true,
		spread:   spread{hard: 0.1, times: 3}, // 0.78 times in the other tasks
		careful:  0.3, trusting: 0.02,
		languages:  []language{english, spanish, german, french, chinese},
		confidence: confidence{right: 93, slipped: 64, unsure: 55, spread: 5},
		latency:    latency{median: 900 * time.Millisecond, sigma: 0.30, perToken: 8 * time.Millisecond},
	},
	{
		name: "sim-erratic", served: "sim-erratic-2026-11",
		format: []rate[formatSlip]{ // 9 % of turns, most of them repairable
			{fenced, 0.045}, {prose, 0.025}, {truncated, 0.004}, {missingField, 0.006},
			{extraKey, 0.005}, {wrongCase, 0.003}, {badConfidence, 0.002},
		},
		decision: []rate[decisionSlip]{ // 16.5 % of turns
			{wrongLabel, 0.018}, {offByOne, 0.017}, {repeatCall, 0.055},
			{needlessClarify, 0.04}, {skipToday, 0.023}, {inventNumber, 0.012},
		},
		native: []rate[nativeSlip]{ // 9 % of turns
			{cutArguments, 0.015}, {unknownTool, 0.01}, {missingArgument, 0.015}, {announce, 0.01},
			{emptyReply, 0.01}, {finalAsText, 0.02}, {wrongType, 0.01},
		},
		text: []rate[textSlip]{{noInput, 0.03}, {chatter, 0.04}, {noLines, 0.02}}, // 9 % of turns
		planning: []rate[planSlip]{ // 16 % of plans
			{cyclic, 0.02}, {unknownStep, 0.02}, {duplicateStep, 0.02}, {unknownTools, 0.03},
			{brokenSchema, 0.02}, {noSteps, 0.01}, {fencedPlan, 0.03}, {prosePlan, 0.01},
		},
		parallel: true,
		spread:   spread{hard: 0.2, times: 3}, // 0.5 times in the other tasks
		careful:  0.4, trusting: 0.30,
		languages:  []language{english, spanish, german, french, chinese},
		confidence: confidence{right: 84, slipped: 62, unsure: 52, spread: 9},
		latency:    latency{median: 450 * time.Millisecond, sigma: 0.55, perToken: 4 * time.Millisecond},
	},
	{
		name: "sim-weak", served: "sim-weak-2026-11",
		format: []rate[formatSlip]{ // 18 % of turns
			{fenced, 0.05}, {prose, 0.04}, {truncated, 0.04}, {missingField, 0.02},
			{extraKey, 0.01}, {wrongCase, 0.01}, {badConfidence, 0.01},
		},
		decision: []rate[decisionSlip]{ // 39 % of turns
			{wrongLabel, 0.06}, {offByOne, 0.04}, {repeatCall, 0.10},
			{needlessClarify, 0.08}, {skipToday, 0.08}, {inventNumber, 0.03},
		},
		native: []rate[nativeSlip]{ // 20 % of turns
			{cutArguments, 0.03}, {unknownTool, 0.03}, {missingArgument, 0.03}, {announce, 0.03},
			{emptyReply, 0.02}, {finalAsText, 0.03}, {wrongType, 0.03},
		},
		text: []rate[textSlip]{{noInput, 0.06}, {chatter, 0.08}, {noLines, 0.06}}, // 20 % of turns
		planning: []rate[planSlip]{ // 36 % of plans
			{cyclic, 0.04}, {unknownStep, 0.05}, {duplicateStep, 0.04}, {unknownTools, 0.06},
			{brokenSchema, 0.04}, {noSteps, 0.03}, {fencedPlan, 0.06}, {prosePlan, 0.04},
		},
		spread:  spread{hard: 0.3, times: 2.2}, // 0.49 times in the other tasks
		careful: 0.6, trusting: 0.80,
		languages: []language{english},
		// Over-confident: wrong turns sound almost like right ones.
		confidence: confidence{right: 91, slipped: 84, unsure: 76, spread: 6},
		latency:    latency{median: 220 * time.Millisecond, sigma: 0.45, perToken: 2 * time.Millisecond},
	},
}

// profileFor finds a model by its name or its served name.
func profileFor(model string) (profile, bool) {
	for _, p := range allProfiles() {
		if model == p.name || model == p.served {
			return p, true
		}
	}
	return profile{}, false
}
