package night_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// night has the inputs: docs/night.yaml says what each one means.
type night struct {
	Tasks    int
	Models   int
	Trials   int
	Turns    float64
	MaxTurns int `yaml:"max_turns"`
	Tokens   struct {
		Input, Output int64
		MaxOutput     int64 `yaml:"max_output"`
	}
	Price           struct{ Input, Output float64 }
	Latency         duration
	TokensPerMinute int64 `yaml:"tokens_per_minute"`
	Concurrency     int
	Batch           struct {
		Discount    float64
		Items, Open int
		Turnaround  duration
	}
	Solved, ICC float64
	Baseline    struct{ Runs, Trials int }
	Agents      []agents
	Fleet       any // see TestFleetTakesItsTime in cmd/cupel-fleet
}

// agents are models that changed by the same number of points since the baseline.
type agents struct {
	Models int
	Change float64
}

// duration is a log-normal time, at most Max if that is not 0.
type duration struct {
	Median time.Duration
	Sigma  float64
	Max    time.Duration
}

func (d duration) draw(rng *rand.Rand) time.Duration {
	t := time.Duration(float64(d.Median) * math.Exp(d.Sigma*rng.NormFloat64()))
	if d.Max > 0 {
		t = min(t, d.Max)
	}
	return t
}

// inputs reads docs/night.yaml.
func inputs(t *testing.T) night {
	t.Helper()
	text, err := os.ReadFile("../../../docs/night.yaml")
	require.NoError(t, err)
	var n night
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	require.NoError(t, d.Decode(&n))
	models := 0
	for _, a := range n.Agents {
		models += a.Models
	}
	require.Equal(t, n.Models, models, "docs/night.yaml: models of all agents")
	return n
}

// smaller is a night of fewer tasks at a rate that is lower by the same factor, which takes
// about as long.
func (n night) smaller(factor int) night {
	n.Tasks /= factor
	n.TokensPerMinute /= int64(factor)
	n.Concurrency = max(1, n.Concurrency/factor)
	n.Batch.Items, n.Batch.Open = max(1, n.Batch.Items/factor), max(1, n.Batch.Open/factor)
	return n
}

// turns draws the number of turns of an episode.
func (n night) turns(rng *rand.Rand) int {
	k := 1 + int(math.Log(1-rng.Float64())/math.Log(1-1/n.Turns))
	return min(k, n.MaxTurns)
}

// cost is the price of a turn, in USD.
func (n night) cost() float64 {
	return (float64(n.Tokens.Input)*n.Price.Input + float64(n.Tokens.Output)*n.Price.Output) / 1e6
}
