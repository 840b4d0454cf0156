package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/recorder"
)

// fanOut is a strategy that issues several tool calls in one step and records
// the order in which their results come back.
type fanOut struct {
	tools []string
	log   []string
}

func (m *fanOut) Step(ev agent.Event) agent.Ready {
	switch ev := ev.(type) {
	case agent.Started:
		var r agent.Ready
		for i, name := range m.tools {
			r.Commands = append(r.Commands, agent.CallTool{ID: i + 1, Call: tool.Call{Name: name, Args: json.RawMessage(`{"id":"1"}`)}})
		}
		return r
	case agent.ToolReturned:
		m.log = append(m.log, fmt.Sprintf("%d@%s", ev.ID, ev.At.Format("05")))
		if len(m.log) == len(m.tools) {
			return agent.Ready{Commands: []agent.Command{agent.Finish{Status: agent.Answered}}}
		}
	}
	return agent.Ready{}
}

func testEpisodeWith(m agent.Machine, world world.Spec) *driver {
	world.Zone = time.UTC
	world.Now = time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)
	tools, err := tool.NewSet([]tool.Spec{{Name: "today_range", Schema: json.RawMessage(`{}`)}, {Name: "get_job_status", Schema: json.RawMessage(`{}`)}})
	if err != nil {
		panic(err)
	}
	p := Planned{
		Suite: &goldens.Suite{}, Task: goldens.Task{ID: "T", World: world}, Seed: NewSeed(1, "T", "c", 1),
		Params: agent.Params{Tools: tools},
	}
	opened, err := goldens.OpenWorld(context.Background(), p.Task, 1)
	if err != nil {
		panic(err)
	}
	return &driver{
		Env: &Env{}, Planned: &p, ids: newIDs(p.Seed), clock: world.Now, machine: m,
		world: opened, rows: rowBuilder{Planned: &p, actions: map[int]string{}, world: opened},
	}
}

// The calls of one step start together. Their results come back in the order of their
// times, then of their command ids.
func TestDriveOrdersOutcomesByVirtualTime(t *testing.T) {
	m := &fanOut{tools: []string{"today_range", "get_job_status", "today_range", "get_job_status"}}
	e := testEpisodeWith(m, world.Spec{
		Kind: "counts", Maker: counts.Worlds()["counts"], State: []byte(`{"job_status":["done"]}`),
		Latency: map[string]time.Duration{"today_range": 9 * time.Second, "get_job_status": 2 * time.Second},
	})
	e.drive(context.Background())
	require.Equal(t, []string{"2@02", "4@02", "1@09", "3@09"}, m.log)
	require.Equal(t, agent.Answered, e.finish.Status)
	require.Len(t, e.rows.tools, 4)
	require.Equal(t, int64(2_000_000), e.rows.tools[1].DurationUs)
}

// mute issues no command and waits for nothing.
type mute struct{}

func (mute) Step(agent.Event) agent.Ready { return agent.Ready{} }

func TestDriveEndsAMachineThatWaitsForNothing(t *testing.T) {
	e := testEpisodeWith(mute{}, world.Spec{})
	e.drive(context.Background())
	require.Equal(t, agent.Failed, e.finish.Status)
	require.ErrorContains(t, e.finish.Err, "bug in the strategy")
}

// The ids equal those of ulid.Monotonic, because recorded ledgers contain them.
func TestIDsAreThoseOfULID(t *testing.T) {
	at := time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)
	for trial := range 20 {
		s := NewSeed(7, "G01", "strong", trial)
		got, want := newIDs(s), ulid.Monotonic(rand.NewChaCha8(s), 1<<16)
		for i := range 200 {
			now := at.Add(time.Duration(i*trial/40) * time.Millisecond) // in the first trial all ids have one millisecond, in the last each has several
			require.Equal(t, ulid.MustNew(ulid.Timestamp(now), want).String(), got.next(now), "trial %d, id %d", trial, i)
		}
	}
}

// The low part of the entropy carries into the high part.
func TestIDsCarry(t *testing.T) {
	at := time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)
	g := newIDs(NewSeed(1, "G01", "strong", 1))
	first := g.next(at)
	g.high, g.low = 0, math.MaxUint64
	carried := g.next(at)
	require.Equal(t, uint16(1), g.high)
	require.Equal(t, first[:10], carried[:10])
	g.high, g.low = math.MaxUint16, math.MaxUint64
	require.PanicsWithValue(t, "harness: ulid: "+ulid.ErrMonotonicOverflow.Error(), func() { g.next(at) })
}

// BenchmarkIDs makes the ids of an episode of three turns and two tool calls. Floor:
// the five increments draw 4 KiB of ChaCha8, about 4 µs.
func BenchmarkIDs(b *testing.B) {
	at := time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)
	s := NewSeed(1, "G01", "strong", 1)
	b.ReportAllocs()
	for b.Loop() {
		g := newIDs(s)
		for range 6 {
			g.next(at)
		}
	}
}

func TestIDsAreMonotonicAndSeeded(t *testing.T) {
	at := time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)
	a, b := newIDs(NewSeed(1, "G01", "strong", 1)), newIDs(NewSeed(1, "G01", "strong", 1))
	other := newIDs(NewSeed(1, "G01", "strong", 2))
	last := ""
	for i := range 1000 {
		now := at.Add(time.Duration(i/10) * time.Millisecond)
		id := a.next(now)
		require.Equal(t, id, b.next(now))
		require.NotEqual(t, id, other.next(now))
		require.Greater(t, id, last)
		last = id
	}
}

func TestRunIDDependsOnEveryPart(t *testing.T) {
	at := time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)
	base := NewRunID(at, "a", "b")
	require.Equal(t, base, NewRunID(at, "a", "b"))
	for _, other := range []string{NewRunID(at, "ab", ""), NewRunID(at, "a", "c"), NewRunID(at, "a"), NewRunID(at.Add(time.Second), "a", "b")} {
		require.NotEqual(t, base, other)
	}
	require.Len(t, base, 26)
}

// A failure with a reply of the provider is on the cassette. One without a reply is
// not, so a replay does not repeat it.
func TestFailedTellsWhatIsOnRecord(t *testing.T) {
	var m modelCall
	for _, c := range []struct {
		name string
		seen []recorder.Exchange
		want bool
	}{
		{"no exchange: a replay miss", nil, false},
		{"the transport failed", []recorder.Exchange{{}}, false},
		{"an error status", []recorder.Exchange{{Status: 529}}, true},
	} {
		ev := m.failed(context.Background(), time.Time{}, errors.New("down"), c.seen)
		require.Equal(t, c.want, ev.(agent.ModelFailed).Answered, c.name)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	require.IsType(t, agent.Cancelled{}, m.failed(stopped, time.Time{}, stopped.Err(), nil))
}
