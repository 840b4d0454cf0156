package model

import (
	"maps"
	"slices"

	"github.com/cupel-eval/cupel/reports/stat"
)

// strategyResults measures the agents over the trials of tasks that all of them have a
// result of, each with the same weight; the tasks of a session are one cluster.
func strategyResults(rings []*modelGroup, agents []string, clusters map[string]string) []StrategyResult {
	list := make([]StrategyResult, len(agents))
	sums := make([]strategyTotals, len(agents))
	for i, a := range agents {
		list[i] = StrategyResult{Agent: a, Candidates: []string{}}
		for _, g := range rings {
			list[i].Candidates = append(list[i].Candidates, g.candidates[a]...)
			list[i].WithoutResult += g.lost[a]
		}
	}
	for _, g := range rings {
		for _, task := range g.tasks(agents) {
			for _, trial := range g.trials(agents, task) {
				for i, a := range agents {
					sums[i].add(clusterOf(clusters, task), g.at(a, task, trial))
				}
			}
		}
	}
	for i := range list {
		sums[i].measure(&list[i])
	}
	markFront(list)
	return list
}

// tasks are those that every agent has a result of, sorted.
func (g *modelGroup) tasks(agents []string) (tasks []string) {
	for task := range g.by[agents[0]] {
		if !slices.ContainsFunc(agents, func(a string) bool { return len(g.attempts(a, task)) == 0 }) {
			tasks = append(tasks, task)
		}
	}
	slices.Sort(tasks)
	return tasks
}

// trials are those of a task that every agent has a result of, sorted.
func (g *modelGroup) trials(agents []string, task string) (trials []int) {
	for _, x := range g.attempts(agents[0], task) {
		if !slices.ContainsFunc(agents, func(a string) bool { return len(g.at(a, task, x.trial)) == 0 }) {
			trials = append(trials, x.trial)
		}
	}
	return slices.Compact(trials)
}

// strategyTotals gathers what an entrant's estimates are made of: one observation for each
// trial of a task.
type strategyTotals struct {
	episodes          int
	success, harm     map[string]stat.Cluster // by cluster
	steps, cost, time []stat.Observation
	unpriced, untimed bool
}

// add counts the attempts at a trial, of all candidates of the agent, as one of a cluster.
func (s *strategyTotals) add(cluster string, list []entry) {
	solved, cost, time, harm, changing := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, x := range list {
		if x.episode.ElapsedUs == nil {
			s.untimed = true
		} else {
			time += float64(*x.episode.ElapsedUs)
		}
		if x.episode.Solved {
			solved++
		}
		if h := x.episode.attempt.Harm; h != nil {
			if changing++; *h {
				harm++
			}
		}
		if a := &x.episode.attempt; a.Solved && !a.ExpectedStop {
			s.steps = append(s.steps, stat.Observation{Cluster: cluster, Value: float64(x.episode.Steps)})
		}
		if x.episode.CostNanoUSD == nil {
			s.unpriced = true
		} else {
			cost += float64(*x.episode.CostNanoUSD)
		}
	}
	n := float64(len(list))
	s.episodes += len(list)
	if s.success == nil {
		s.success, s.harm = map[string]stat.Cluster{}, map[string]stat.Cluster{}
	}
	of := s.success[cluster]
	s.success[cluster] = stat.Cluster{Num: of.Num + solved/n, Den: of.Den + 1}
	if changing > 0 {
		of = s.harm[cluster]
		s.harm[cluster] = stat.Cluster{Num: of.Num + harm/changing, Den: of.Den + 1}
	}
	s.cost = append(s.cost, stat.Observation{Cluster: cluster, Value: cost / n})
	s.time = append(s.time, stat.Observation{Cluster: cluster, Value: time / n})
}

func (s *strategyTotals) measure(e *StrategyResult) {
	const confidence = 0.95
	of := func(obs []stat.Observation) *Estimate {
		m, ok := stat.ClusterMean(obs)
		if !ok {
			return nil
		}
		estimate := &Estimate{Value: m.Value}
		if iv, ok := m.Interval(confidence); ok {
			iv.Low = max(0, iv.Low)
			estimate.Interval = &iv
		}
		return estimate
	}
	e.Episodes, e.Steps = s.episodes, of(s.steps)
	if !s.untimed {
		e.Time = of(s.time)
	}
	if !s.unpriced {
		e.Cost = of(s.cost)
	}
	share := func(by map[string]stat.Cluster) (e *Estimate) {
		var list []stat.Cluster
		for _, task := range slices.Sorted(maps.Keys(by)) {
			list = append(list, by[task])
		}
		if m, ok := stat.ClusterRatio(list); ok {
			e = &Estimate{Value: m.Value}
			if iv, ok := stat.ShareInterval(list, confidence); ok {
				e.Interval = &iv
			}
		}
		return e
	}
	e.Success, e.Harm = share(s.success), share(s.harm)
}

// priced says that the cost of all entrants is known.
func priced(list []StrategyResult) bool {
	return !slices.ContainsFunc(list, func(e StrategyResult) bool { return e.Cost == nil })
}

// timed says that the time of all entrants is known: a batched episode has none.
func timed(list []StrategyResult) bool {
	return !slices.ContainsFunc(list, func(e StrategyResult) bool { return e.Time == nil })
}

// markFront marks the entrants that no other dominates.
func markFront(list []StrategyResult) {
	if list[0].Success == nil {
		return // all have the same trials, or none
	}
	costs, times := priced(list), timed(list)
	for i := range list {
		list[i].Front = !slices.ContainsFunc(list, func(other StrategyResult) bool { return other.dominates(&list[i], costs, times) })
	}
}

// dominates says that e is as good as other in success, cost and time, and better in
// one.
func (e *StrategyResult) dominates(other *StrategyResult, costs, times bool) bool {
	better, worse := false, false
	look := func(mine, theirs *Estimate, more bool) {
		if d := mine.Value - theirs.Value; d != 0 {
			better, worse = better || (d > 0) == more, worse || (d > 0) != more
		}
	}
	look(e.Success, other.Success, true)
	if times {
		look(e.Time, other.Time, false)
	}
	if costs {
		look(e.Cost, other.Cost, false)
	}
	return better && !worse
}

// findWinner is the only Pareto-optimal strategy that is shown to be better than each
// other one in success, cost or time; empty without one, and where models disagree.
func (c *StrategyComparison) findWinner() string {
	if slices.ContainsFunc(decisive(), c.ModelsDisagree) {
		return ""
	}
	winner := ""
	for _, e := range c.Results {
		if e.Front && winner != "" {
			return ""
		}
		if e.Front {
			winner = e.Agent
		}
	}
	for _, e := range c.Results {
		beaten := slices.ContainsFunc(c.Pairs, func(k PairResult) bool {
			return k.Winner == winner && (k.First == e.Agent || k.Second == e.Agent) && slices.Contains(decisive(), k.Metric)
		})
		if e.Agent != winner && !beaten {
			return ""
		}
	}
	return winner
}

// decisive are the metrics that the Pareto front is of.
func decisive() []string { return []string{"solved", "cost", "elapsed"} }
