package orchestration

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// Totals are those of the episodes of a candidate, also of episodes without a result.
type Totals struct {
	// Episodes have sub-agents, tasks, or requests besides questions of their only agent; the
	// other numbers are of them.
	Episodes int `json:"episodes"`
	// Agents count sub-agents by role.
	Agents []AgentTotal `json:"sub_agents"`
	// Tasks count tasks by kind, state and reason.
	Tasks []TaskTotal `json:"tasks"`
	// Requests count requests to people by what was asked and answered.
	Requests []RequestTotal `json:"requests"`
}

// AgentTotal is what the sub-agents of a role did.
type AgentTotal struct {
	// Role is that of the ledger's turns.
	Role   string `json:"role"`
	Agents int    `json:"agents"`
	Turns  int    `json:"turns"`
	Calls  int    `json:"tool_calls"`
	// Tokens are those of all classes; null if those of a turn are unknown.
	Tokens *int64 `json:"tokens"`
	// Cost is null if that of a turn is unknown.
	Cost *int64 `json:"cost_nanousd"`
}

// TaskTotal counts tasks with the same kind, role and state.
type TaskTotal struct {
	// Kind, state and reason are as in the ledger's tasks.
	Kind   string `json:"kind"`
	State  string `json:"state"`
	Reason string `json:"reason"`
	// N is how many there were.
	N int `json:"n"`
	// TimeUs adds up the virtual times from start to end.
	TimeUs int64 `json:"time_us"`
}

// RequestTotal counts requests to people with the same kind, severity and answer.
type RequestTotal struct {
	// Kind, tool and severity are as in the ledger's requests.
	Kind     string `json:"kind"`
	Tool     string `json:"tool"`
	Severity string `json:"severity"`
	// Say is empty without an answer.
	Say string `json:"say"`
	// N is how many there were.
	N int `json:"n"`
	// WaitUs adds up the virtual times until an answer.
	WaitUs int64 `json:"wait_us"`
}

// maxKinds bounds the entries of each list, because what is counted may be named by models; what
// is beyond them is counted as "other".
const maxKinds = 200

type (
	taskKey    struct{ kind, state, reason string }
	requestKey struct{ kind, tool, severity, say string }
)

// Tally gathers Totals. The zero Tally is empty; it is not safe for concurrent use.
type Tally struct {
	episodes int
	agents   map[string]*agentSum
	tasks    map[taskKey]*TaskTotal
	requests map[requestKey]*RequestTotal
}

type agentSum struct {
	AgentTotal
	tokens, cost sum
}

// at returns the entry of a key, a new one if there is none, and that of other if there are too
// many; what is stored does not share memory with the key.
func at[K comparable, V any](m *map[K]*V, key, other K, own func(K) (K, V)) *V {
	if *m == nil {
		*m = map[K]*V{}
	}
	if (*m)[key] == nil && len(*m) >= maxKinds {
		key = other
	}
	if (*m)[key] == nil {
		k, v := own(key)
		(*m)[k] = &v
	}
	return (*m)[key]
}

// Add counts an episode.
func (t *Tally) Add(rows *ledger.EpisodeRows) {
	if !shows(rows) {
		return
	}
	all, e := conversations(rows), &rows.Episode
	t.episodes++
	own := strings.Clone
	for _, c := range all[1:] {
		a := at(&t.agents, c.role, "other", func(role string) (string, agentSum) {
			return own(role), agentSum{AgentTotal: AgentTotal{Role: own(role)}}
		})
		a.Agents, a.Turns, a.Calls = a.Agents+1, a.Turns+c.turns, a.Calls+c.calls
		a.tokens.add(c.tokens.value())
		a.cost.add(c.cost.value())
	}
	for _, x := range e.Tasks {
		n := at(&t.tasks, taskKey{x.Kind, x.State, x.Reason}, taskKey{"other", "other", ""}, func(k taskKey) (taskKey, TaskTotal) {
			k = taskKey{own(k.kind), own(k.state), own(k.reason)}
			return k, TaskTotal{Kind: k.kind, State: k.state, Reason: k.reason}
		})
		if n.N++; x.TsStart != nil && x.TsEnd != nil {
			n.TimeUs += *x.TsEnd - *x.TsStart
		}
	}
	for _, x := range e.Requests {
		n := at(&t.requests, requestKey{x.Kind, x.Tool, x.Severity, x.Say}, requestKey{"other", "other", "", "other"}, func(k requestKey) (requestKey, RequestTotal) {
			k = requestKey{own(k.kind), own(k.tool), own(k.severity), own(k.say)}
			return k, RequestTotal{Kind: k.kind, Tool: k.tool, Severity: k.severity, Say: k.say}
		})
		n.N, n.WaitUs = n.N+1, n.WaitUs+x.WaitUs
	}
}

// Totals returns what was counted, in a fixed order; nil if no episode has any of it.
func (t *Tally) Totals() *Totals {
	if t.episodes == 0 {
		return nil
	}
	out := &Totals{Episodes: t.episodes, Agents: []AgentTotal{}, Tasks: []TaskTotal{}, Requests: []RequestTotal{}}
	for _, role := range slices.Sorted(maps.Keys(t.agents)) {
		a := t.agents[role]
		a.Tokens, a.Cost = a.tokens.value(), a.cost.value()
		out.Agents = append(out.Agents, a.AgentTotal)
	}
	for _, n := range t.tasks {
		out.Tasks = append(out.Tasks, *n)
	}
	slices.SortFunc(out.Tasks, func(a, b TaskTotal) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State), cmp.Compare(a.Reason, b.Reason))
	})
	for _, n := range t.requests {
		out.Requests = append(out.Requests, *n)
	}
	slices.SortFunc(out.Requests, func(a, b RequestTotal) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Say, b.Say))
	})
	return out
}
