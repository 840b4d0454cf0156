package ledger

// Statuses of episodes that say nothing about the model. Every other status is
// the agent's own.
const (
	// StatusInfraError: a provider, the network or a quota failed.
	StatusInfraError = "infra_error"
	// StatusHarnessError: cupel, the suite, a tool of ours or a cassette failed.
	StatusHarnessError = "harness_error"
	// StatusBudgetStop: a cap on the spending of the run refused a request.
	StatusBudgetStop = "budget_stop"
)

// Outcomes count how the episodes of a run ended. Their sum is the episodes
// planned.
type Outcomes struct {
	Solved int `json:"solved"`
	// Failed episodes are the model's failures.
	Failed int `json:"failed"`
	// The next three say nothing about the model, and are left out of verdicts.
	InfraErrors   int `json:"infra_errors"`
	HarnessErrors int `json:"harness_errors"`
	BudgetStops   int `json:"budget_stops"`
	// Unfinished episodes have no row: the run ended before them, or in their
	// midst.
	Unfinished int `json:"unfinished"`
}

// Add counts an episode.
func (o *Outcomes) Add(e Episode) {
	switch why := e.Excluded(); {
	case why == LostToCap:
		o.BudgetStops++
	case why == LostToHarness:
		o.HarnessErrors++
	case why == LostToInfra:
		o.InfraErrors++
	case e.Solved:
		o.Solved++
	default:
		o.Failed++
	}
}

// WithoutResult is how many of the planned episodes say nothing about a model.
func (o Outcomes) WithoutResult() int {
	return o.InfraErrors + o.HarnessErrors + o.BudgetStops + o.Unfinished
}
