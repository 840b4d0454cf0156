package compare

import "time"

// Rules are how a comparison is judged: section regression of cupel.yaml. The
// zero value of a field means its default.
type Rules struct {
	// Alpha is the chance of calling a regression where there is none, over all
	// gating metrics and pairs together, one-sided; default 0.05.
	Alpha float64 `json:"alpha"`
	// MaxDrop is the loss of solved tasks one is ready to bear, as a share;
	// default 0.05. MaxInvalid is the same for contract-valid outputs; default 0.02.
	MaxDrop    float64 `json:"max_drop"`
	MaxInvalid float64 `json:"max_invalid"`
	// MaxSteps, MaxCost and MaxLatency gate these too when they are set: the growth
	// one is ready to bear, as a share of the baseline.
	MaxSteps   float64 `json:"max_steps,omitempty"`
	MaxCost    float64 `json:"max_cost,omitempty"`
	MaxLatency float64 `json:"max_latency,omitempty"`
	// Changed says what to do with tasks whose checks or world differ.
	Changed Changed `json:"changed"`
	// Flaky is the known-flaky list.
	Flaky []KnownFlaky `json:"known_flaky,omitempty"`
	// Today decides which entries of it have expired.
	Today time.Time `json:"today"`
}

// Changed is what to do with tasks that are not the same task any more.
type Changed string

// The ways to treat changed tasks.
const (
	// Refuse is the default: no comparison.
	Refuse Changed = "refuse"
	// Skip leaves them out.
	Skip Changed = "skip"
	// Keep compares them all the same.
	Keep Changed = "keep"
)
