// Package strategy describes the built-in agent strategies: which profiles and
// settings each has, within which bounds, and what its results mean. It imports none
// of the code that carries a strategy out, so that suites, reports and the command
// line can use it. Only this package lists the profiles and settings of strategies.
package strategy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/external"
)

// The names of the built-in strategies, as candidates and ledgers have them.
const (
	Contract     = "contract"
	Tools        = "tools"
	Plan         = "plan"
	Orchestrator = "orchestrator"
	External     = "external"
)

// Imported stands for the strategy of episodes that another harness made, which is unknown.
const Imported = "imported"

// WarnLimited is the warning of an external agent's turn whose request got an output limit.
const WarnLimited = "proxy.max_output"

// Seed is the default prompt profile. Every strategy accepts the name for its own
// default.
const Seed = "seed"

// Info describes a strategy. The zero Info is that of a custom strategy of which
// nothing is known: it accepts any profile and every setting.
type Info struct {
	// Name is what candidates call it.
	Name string
	// Profiles are its prompt profiles, the default first, which seed names, too; nil
	// accepts any.
	Profiles []string
	// Settings names what it accepts of the settings that not every strategy has: mode,
	// compress, rescue, rescue_on_contradiction, system, fallback, max_iterations,
	// final_retries, batch, plan, orchestrator and external.Fields. nil accepts all.
	Settings []string
	// Native reports that models call its tools by the provider's own means.
	Native bool
	// Validity says what makes an output of a built-in strategy valid, in a sentence for
	// reports; empty is that of the contract.
	Validity string
	// Steps says what one step is, where it is not one action; StepsMissed is added
	// where the criterion on steps is not met. Clarifies says how its nature decides how
	// often it asks the user. They are sentences for reports; empty adds none.
	Steps, StepsMissed, Clarifies string
	// Cannot names the capabilities, of those that a task may require, that agents of the
	// strategy lack by its nature.
	Cannot []string
	// NoFork says why its episodes cannot be forked; empty if they can.
	NoFork string
}

// The capabilities that a task may require of a strategy: to ask the user, to say that the
// request cannot be fulfilled, to take further messages of the user, and to answer with calls
// that are not carried out.
const (
	CanAsk      = "ask_user"
	CanGiveUp   = "cannot_proceed"
	CanThread   = "messages"
	CanCallOnly = "functions"
)

// builtin are the strategies that are built in.
var builtin = []Info{
	{
		Name:     Contract,
		Profiles: []string{Seed, "schema", "conversation"},
		Settings: []string{"mode", "rescue", "rescue_on_contradiction", "compress"},
		Cannot:   []string{CanThread, CanCallOnly},
	},
	{
		Name:     Tools,
		Profiles: []string{"native", "react"},
		Settings: []string{"system", "fallback", "max_iterations", "final_retries", "batch"},
		Native:   true,
		Validity: "Valid: all calls are of known tools, their arguments are JSON objects that fit, and a final answer has the form asked for.",
		Steps:    "A step is a model turn, however many calls it makes.",
		Cannot:   []string{CanThread},
	},
	{
		Name:        Plan,
		Profiles:    []string{"native"},
		Settings:    []string{"system", "fallback", "max_iterations", "final_retries", "plan"},
		Native:      true,
		Validity:    "Valid: a plan keeps all rules of plans, calls fit the tools of their step, and a step ends with a result that fits its schema.",
		Steps:       "A step is a model turn: the planner's, and each one of every plan step and every item of a fan-out.",
		StepsMissed: "A plan of n steps takes n + 1 turns at least, by its nature.",
		Clarifies:   "A plan never asks the user, so this is 0 by its nature; a task whose right outcome is a question it cannot solve.",
		Cannot:      []string{CanAsk, CanGiveUp, CanThread, CanCallOnly},
	},
	{
		Name:        Orchestrator,
		Profiles:    []string{"native"},
		Settings:    []string{"system", "fallback", "final_retries", "orchestrator"},
		Native:      true,
		Validity:    "Valid: all calls are of known tools that the role may call, their arguments fit, plans and delegations keep their rules, and every id was shown before.",
		Steps:       "A step is a model turn: the orchestrator's, and each one of every sub-agent.",
		StepsMissed: "Handing a task to a sub-agent takes at least two turns more than doing it.",
		Cannot:      []string{CanCallOnly},
	},
	{
		Name:     External,
		Profiles: []string{"own"},
		Settings: external.Fields,
		Native:   true,
		Validity: "Valid: all native calls are of known tools, and their arguments are JSON objects that fit. Whether an external agent keeps a contract is not known.",
		Steps:    "A step is a model request of the agent, however many calls its reply makes.",
		NoFork:   "an external agent decides in its own process, which cannot continue from a recorded turn",
		Cannot:   []string{CanThread, CanCallOnly},
	},
}

// Names are those of the built-in strategies, in the order in which messages list them.
func Names() []string {
	var names []string
	for _, s := range builtin {
		names = append(names, s.Name)
	}
	return names
}

// Of describes the built-in strategy of that name, empty meaning contract. Of another
// name it returns an Info of which only the name is known.
func Of(name string) Info {
	name = cmp.Or(name, Contract)
	for _, s := range builtin {
		if s.Name == name {
			return s
		}
	}
	return Info{Name: name}
}

// BuiltIn reports whether the strategy is one of the built-in ones.
func (s Info) BuiltIn() bool { return slices.Contains(Names(), s.Name) }

// DefaultProfile is the prompt profile of a candidate that names none.
func (s Info) DefaultProfile() string {
	if len(s.Profiles) == 0 {
		return Seed
	}
	return s.Profiles[0]
}

// CheckProfile reports a prompt profile that the strategy does not have; empty is its
// default.
func (s Info) CheckProfile(profile string) error {
	known := append([]string{"", Seed, Of(s.Name).DefaultProfile()}, s.Profiles...)
	if len(s.Profiles) == 0 || slices.Contains(known, profile) {
		return nil
	}
	slices.Sort(known)
	return fmt.Errorf("unknown prompt profile %q; known: %s", profile, strings.Join(slices.Compact(known)[1:], ", "))
}

// Lacks reports that the strategy does not have a setting, and which ones have it; it
// returns "" where the strategy has the setting.
func (s Info) Lacks(setting string) string {
	if s.Settings == nil || slices.Contains(s.Settings, setting) {
		return ""
	}
	var having []string
	for _, other := range builtin {
		if slices.Contains(other.Settings, setting) {
			having = append(having, other.Name)
		}
	}
	last := having[len(having)-1]
	return "agent " + s.Name + " has no such setting; it is a setting of " + strings.Replace(strings.Join(having, ", "), ", "+last, " and "+last, 1)
}
