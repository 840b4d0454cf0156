//go:build unix

package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/testkit/traffic"
	"github.com/cupel-eval/cupel/providers"
)

// small is the fleet of docs/night.yaml, which says what each field means.
type small struct {
	Workers, Concurrency, Trials int
	Turns                        []float64
	Latency                      struct {
		Median time.Duration
		Sigma  float64
	}
	RequestsPerMinute int64 `yaml:"requests_per_minute"`
}

func (s small) latency(rng *rand.Rand) time.Duration {
	return time.Duration(float64(s.Latency.Median) * math.Exp(s.Latency.Sigma*rng.NormFloat64()))
}

// turns draws the number of turns of an episode.
func (s small) turns(rng *rand.Rand) int {
	at := rng.Float64()
	for i, share := range s.Turns {
		if at -= share; at < 0 {
			return i + 1
		}
	}
	return len(s.Turns)
}

// simulated is the mean time of several simulations.
func (s small) simulated(t *testing.T, tasks int) (mean time.Duration) {
	const rounds = 20
	for i := range rounds {
		a := traffic.Simulate(t, rand.New(rand.NewPCG(uint64(i), 7)), traffic.Traffic{
			Episodes: tasks * s.Trials, Turns: s.turns, Latency: s.latency,
			Workers: s.Workers, Limits: admission.Limits{Concurrency: s.Concurrency, RequestsPerMinute: s.RequestsPerMinute},
			Request: admission.Request{Input: 10_000, Output: 500},
			Result:  admission.Result{Usage: providers.Usage{Reported: true, Input: 2_000, Output: 100}},
		})
		mean += a.Time / rounds
	}
	return mean
}

// A fleet of processes takes the time that the simulation says, within a tenth. It is measured at the
// provider, from the first request to the last reply.
func TestFleetTakesItsTime(t *testing.T) {
	if os.Getenv("CUPEL_FLEET") == "" {
		t.Skip("takes minutes: run by make fleet")
	}
	text, err := os.ReadFile("../../docs/night.yaml")
	require.NoError(t, err)
	var inputs struct{ Fleet small }
	require.NoError(t, yaml.Unmarshal(text, &inputs))
	s := inputs.Fleet
	p := newPlant(t, 0)
	rng := rand.New(rand.NewPCG(1, 1))
	p.draw = func() time.Duration { return s.latency(rng) }
	path := filepath.Join(p.dir, "cupel.yaml")
	config, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(string(config)+"limits:\n  openai-compatible: {concurrency: "+strconv.Itoa(s.Concurrency)+", requests_per_minute: "+strconv.FormatInt(s.RequestsPerMinute, 10)+"}\n"), 0o644))
	for range s.Workers {
		p.workers = append(p.workers, p.startWorkerOf(s.Concurrency))
	}
	p.awaitWorkers(s.Workers)
	out, code := p.run("run", "--queue", p.url, "--mode", "live", "--runs", "fleet", "--trials", strconv.Itoa(s.Trials), "--quiet")
	require.Zero(t, code, out)
	m := p.manifest("fleet")
	require.Equal(t, len(m.Tasks)*s.Trials, m.Episodes)
	mean := 0.0
	for i, share := range s.Turns {
		mean += float64(i+1) * share
	}
	require.InDelta(t, mean, float64(m.Turns)/float64(m.Episodes), 0.1, "turns of an episode")
	measured, simulated := p.last.Sub(p.first), s.simulated(t, len(m.Tasks))
	t.Logf("%d requests: measured %v, simulated %v, %s", p.all, measured.Round(10*time.Millisecond), simulated.Round(10*time.Millisecond),
		strings.TrimSpace(strconv.FormatFloat(100*(measured.Seconds()/simulated.Seconds()-1), 'f', 1, 64)+"%"))
	require.InDelta(t, 1, measured.Seconds()/simulated.Seconds(), 0.1)
}
