package stat

// Trials are the trials of one task.
type Trials struct {
	// Passed of N trials, 0 ≤ Passed ≤ N.
	Passed int `json:"passed"`
	N      int `json:"n"`
}

// Valid says that no more trials passed than there are, and none of either is negative.
func (t Trials) Valid() bool { return t.Passed >= 0 && t.Passed <= t.N }

// PassAt is the unbiased estimate of the probability that at least one of k
// trials passes: 1 − C(N−Passed, k)/C(N, k), the share of subsets of k trials
// that hold a pass. ok is false when k is below 1 or above N.
//
// M. Chen et al., "Evaluating Large Language Models Trained on Code",
// arXiv:2107.03374 (2021), equation 1.
func (t Trials) PassAt(k int) (share float64, ok bool) {
	none, ok := Trials{Passed: t.N - t.Passed, N: t.N}.PassAll(k)
	return 1 - none, ok
}

// PassAll is the unbiased estimate of the probability that all of k trials pass,
// also written pass^k: C(Passed, k)/C(N, k), the share of subsets of k trials
// that hold passes only. ok is false when k is below 1 or above N.
//
// S. Yao et al., "τ-bench: A Benchmark for Tool-Agent-User Interaction in
// Real-World Domains", arXiv:2406.12045 (2024).
func (t Trials) PassAll(k int) (share float64, ok bool) {
	if !t.Valid() || k < 1 || k > t.N {
		return 0, false
	}
	share = 1
	for i := range k {
		share *= float64(max(0, t.Passed-i)) / float64(t.N-i)
	}
	return share, true
}

// PassesAt are PassAt of tasks, each a cluster of its own with the same weight, for
// ClusterRatio and ShareInterval, which then speak of tasks like these. Tasks with
// fewer than k trials are left out: compare the lengths.
func PassesAt(tasks []Trials, k int) []Cluster { return overTasks(tasks, k, Trials.PassAt) }

// PassesAll are PassAll of tasks, as PassesAt are PassAt.
func PassesAll(tasks []Trials, k int) []Cluster { return overTasks(tasks, k, Trials.PassAll) }

func overTasks(tasks []Trials, k int, estimate func(Trials, int) (float64, bool)) (list []Cluster) {
	for _, t := range tasks {
		if v, ok := estimate(t, k); ok {
			list = append(list, Cluster{Num: v, Den: 1})
		}
	}
	return list
}
