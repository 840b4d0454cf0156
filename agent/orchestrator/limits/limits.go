// Package limits has the bounds of agent orchestrator that a candidate sets.
package limits

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// Bounds bound agent orchestrator; a zero takes the default.
type Bounds struct {
	// Turns bounds the orchestrator's own turns; 0 means 100.
	Turns int `yaml:"turns,omitempty" json:",omitzero"`
	// DelegateTurns and BuilderTurns bound those of one delegate and of one builder; 0 means
	// 10 and 30.
	DelegateTurns int `yaml:"delegate_turns,omitempty" json:",omitzero"`
	BuilderTurns  int `yaml:"builder_turns,omitempty" json:",omitzero"`
	// Background is how many background tasks run at the same time; 0 means 5.
	Background int `yaml:"background,omitempty" json:",omitzero"`
	// BuildsAtOnce is how many builds of a plan run at the same time; 0 means as many as there
	// is room for.
	BuildsAtOnce int `yaml:"builds_at_once,omitempty" json:",omitzero"`
	// Idle and Lifetime end a background task, in virtual time; 0 means 10 and 30 minutes.
	Idle     time.Duration `yaml:"idle,omitempty" json:",omitzero"`
	Lifetime time.Duration `yaml:"lifetime,omitempty" json:",omitzero"`
	// PlanTasks is the largest plan; 0 means 50.
	PlanTasks int `yaml:"plan_tasks,omitempty" json:",omitzero"`
	// Memory bounds what the orchestrator is shown of its thread.
	Memory Memory `yaml:"memory,omitempty" json:",omitzero"`
}

// Memory bounds the thread of an orchestrator.
type Memory struct {
	// Tokens is the estimated size of the messages from which on older ones are condensed;
	// 0 means 30,000.
	Tokens int `yaml:"tokens,omitempty" json:",omitzero"`
	// Observations is the estimated size of the observations from which on they are
	// condensed; 0 means 40,000.
	Observations int `yaml:"observations,omitempty" json:",omitzero"`
	// Observe has a model condense; without it a rule keeps a line of each message.
	Observe bool `yaml:"observe,omitempty" json:",omitzero"`
}

// The turns of background tasks that have no setting.
const (
	TablesTurns     = 35
	ResearcherTurns = 25
)

// number is a bound with its default and its largest value.
type number struct {
	name       string
	at         *int
	base, most int
}

func (b *Bounds) numbers() []number {
	return []number{
		{"turns", &b.Turns, 100, 1_000}, {"delegate_turns", &b.DelegateTurns, 10, 1_000}, {"builder_turns", &b.BuilderTurns, 30, 1_000},
		{"background", &b.Background, 5, 100}, {"builds_at_once", &b.BuildsAtOnce, 0, 100}, {"plan_tasks", &b.PlanTasks, 50, 1_000},
		{"memory.tokens", &b.Memory.Tokens, 30_000, 10_000_000}, {"memory.observations", &b.Memory.Observations, 40_000, 10_000_000},
	}
}

// Faults says what is out of range.
func (b Bounds) Faults() []string {
	var out []string
	for _, n := range b.numbers() {
		if *n.at < 0 || *n.at > n.most {
			out = append(out, fmt.Sprintf("%s must be from 0 to %d, but is %d", n.name, n.most, *n.at))
		}
	}
	for _, d := range []struct {
		name string
		time.Duration
	}{{"idle", b.Idle}, {"lifetime", b.Lifetime}} {
		if d.Duration < 0 || d.Duration > 24*time.Hour || d.Duration%time.Microsecond != 0 {
			out = append(out, fmt.Sprintf("%s must be at most 24h0m0s, in whole microseconds, but is %v", d.name, d.Duration))
		}
	}
	return out
}

// IsZero reports that nothing is set.
func (b Bounds) IsZero() bool { return b == Bounds{} }

// Shown are the settings that are not zero, by name.
func (b Bounds) Shown() [][2]string {
	var out [][2]string
	for _, n := range b.numbers() {
		if *n.at != 0 {
			out = append(out, [2]string{"orchestrator." + n.name, strconv.Itoa(*n.at)})
		}
	}
	for _, d := range []struct {
		name string
		time.Duration
	}{{"idle", b.Idle}, {"lifetime", b.Lifetime}} {
		if d.Duration != 0 {
			out = append(out, [2]string{"orchestrator." + d.name, d.String()})
		}
	}
	if b.Memory.Observe {
		out = append(out, [2]string{"orchestrator.memory.observe", "true"})
	}
	return out
}

// Filled returns the bounds with the default in the place of every zero.
func (b Bounds) Filled() Bounds {
	for _, n := range b.numbers() {
		*n.at = cmp.Or(*n.at, n.base)
	}
	b.Idle, b.Lifetime = cmp.Or(b.Idle, 10*time.Minute), cmp.Or(b.Lifetime, 30*time.Minute)
	return b
}
