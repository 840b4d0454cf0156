package guard

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/internal/testkit"
)

var epoch = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestDedupe(t *testing.T) {
	type step struct {
		gate, settle string
		ms           int
		value        int
		keep         bool
		want         Decision
	}
	gate := func(ms int, key string, want Decision, value int) step {
		return step{gate: key, ms: ms, want: want, value: value}
	}
	settle := func(key string, value int, keep bool) step { return step{settle: key, value: value, keep: keep} }
	for _, test := range []struct {
		name  string
		ttl   time.Duration
		steps []step
	}{
		{"hit", DedupeTTL, []step{gate(0, "a", Execute, 0), settle("a", 7, true), gate(1000, "a", Cached, 7)}},
		{"other key", DedupeTTL, []step{gate(0, "a", Execute, 0), settle("a", 7, true), gate(1000, "b", Execute, 0)}},
		{"zero value is a result", DedupeTTL, []step{gate(0, "a", Execute, 0), settle("a", 0, true), gate(1, "a", Cached, 0)}},
		{"failure is forgotten", DedupeTTL, []step{gate(0, "a", Execute, 0), settle("a", 7, false), gate(1, "a", Execute, 0)}},
		{"at expiry", DedupeTTL, []step{gate(0, "a", Execute, 0), settle("a", 7, true), gate(300_000, "a", Cached, 7)}},
		{"after expiry", DedupeTTL, []step{gate(0, "a", Execute, 0), settle("a", 7, true), gate(300_001, "a", Execute, 0)}},
		{"a hit does not prolong", DedupeTTL, []step{gate(0, "a", Execute, 0), settle("a", 7, true), gate(200_000, "a", Cached, 7), gate(300_001, "a", Execute, 0)}},
		{"in flight", DedupeTTL, []step{gate(0, "a", Execute, 0), gate(200_000, "a", InFlight, 0), settle("a", 7, true), gate(300_001, "a", Execute, 0)}},
		{"clock moved back", DedupeTTL, []step{gate(0, "a", Execute, 0), settle("a", 7, true), gate(-100_000, "a", Cached, 7)}},
		{"a second settle changes nothing", DedupeTTL, []step{gate(0, "a", Execute, 0), settle("a", 7, true), settle("a", 8, true), settle("a", 8, false), gate(1, "a", Cached, 7)}},
		{"settle without gate", DedupeTTL, []step{settle("a", 7, true), gate(1, "a", Execute, 0)}},
		{"no ttl, no dedupe", 0, []step{gate(0, "a", Execute, 0), gate(0, "a", Execute, 0), settle("a", 7, true), gate(0, "a", Execute, 0)}},
		{"negative ttl", -time.Second, []step{gate(0, "a", Execute, 0), settle("a", 7, true), gate(0, "a", Execute, 0)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := Dedupe[int]{TTL: test.ttl}
			for i, s := range test.steps {
				if s.settle != "" {
					d.Settle(s.settle, s.value, s.keep)
					continue
				}
				value, got := d.Gate(s.gate, epoch.Add(time.Duration(s.ms)*time.Millisecond))
				require.Equal(t, s.want, got, "step %d", i+1)
				require.Equal(t, s.value, value, "step %d", i+1)
			}
		})
	}
}

// TestDedupeAgainstSlow compares with a list of all events.
func TestDedupeAgainstSlow(t *testing.T) {
	type event struct {
		key           string
		at            int
		settled, keep bool
		value         int
	}
	rapid.Check(t, func(t *rapid.T) {
		const ttl = 10
		fast := Dedupe[int]{TTL: ttl}
		var calls []event // executed calls, newest last
		latest := func(key string) *event {
			for i := len(calls) - 1; i >= 0; i-- {
				if calls[i].key == key {
					return &calls[i]
				}
			}
			return nil
		}
		now := 0
		for range rapid.IntRange(1, 40).Draw(t, "n") {
			now += rapid.IntRange(0, 6).Draw(t, "passed")
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
			c := latest(key)
			if rapid.Bool().Draw(t, "settle") {
				value, keep := rapid.IntRange(0, 3).Draw(t, "value"), rapid.Bool().Draw(t, "keep")
				fast.Settle(key, value, keep)
				if c != nil && !c.settled {
					c.settled, c.keep, c.value = true, keep, value
				}
				continue
			}
			want, value := Execute, 0
			if c != nil && now <= c.at+ttl {
				switch {
				case !c.settled:
					want = InFlight
				case c.keep:
					want, value = Cached, c.value
				}
			}
			got, decision := fast.Gate(key, epoch.Add(time.Duration(now)))
			require.Equal(t, want, decision)
			require.Equal(t, value, got)
			if want == Execute {
				calls = append(calls, event{key: key, at: now})
			}
		}
	})
}

// TestDedupeIsBounded checks that the cache does not grow with the episode, and that it
// keeps the newest results.
func TestDedupeIsBounded(t *testing.T) {
	d := Dedupe[int]{TTL: DedupeTTL}
	for i := range 5000 {
		_, decision := d.Gate(strconv.Itoa(i), epoch)
		require.Equal(t, Execute, decision)
		d.Settle(strconv.Itoa(i), i, i%3 > 0)
		require.LessOrEqual(t, len(d.entries), maxEntries+1)
		require.LessOrEqual(t, len(d.ages), maxEntries+1)
	}
	value, decision := d.Gate("4999", epoch)
	require.Equal(t, Cached, decision)
	require.Equal(t, 4999, value)
	_, decision = d.Gate("1", epoch)
	require.Equal(t, Execute, decision, "the oldest is forgotten")
	_, _ = d.Gate("x", epoch.Add(DedupeTTL+1))
	require.Len(t, d.entries, 1, "all others have expired")

	inFlight := Dedupe[int]{TTL: DedupeTTL}
	for i := range 2 * maxEntries {
		inFlight.Gate(strconv.Itoa(i), epoch)
	}
	_, decision = inFlight.Gate("0", epoch)
	require.Equal(t, InFlight, decision, "a call in flight is not forgotten")
}

// TestDedupeConformance replays the gate and log sequences of the conformance data. A
// cache serves one run. Names and arguments serve as keys here, because package tool
// tests tool.Key.
func TestDedupeConformance(t *testing.T) {
	type expectation struct {
		OK  bool `json:"ok"`
		Out struct {
			Decision string `json:"decision"`
			Key      string `json:"idempotency_key"`
		} `json:"out"`
	}
	type testCase struct {
		ID, Category string
		Steps        []struct {
			Op    string
			NowMS int64  `json:"now_ms"`
			RunID string `json:"run_id"`
			Text  string `json:"json_text"`
		}
		Expect json.RawMessage
	}
	ran := 0
	for _, c := range testkit.Conformance[testCase](t, "contract-cases.jsonl", "fn", "ledger_seq") {
		var want []expectation
		require.NoError(t, json.Unmarshal(c.Expect, &want))
		t.Run(c.ID+"_"+c.Category, func(t *testing.T) {
			caches := map[string]*Dedupe[string]{}
			cache := func(run string) *Dedupe[string] {
				if caches[run] == nil {
					caches[run] = &Dedupe[string]{TTL: DedupeTTL}
				}
				return caches[run]
			}
			for i, s := range c.Steps {
				if !want[i].OK {
					continue // refused before it reaches the cache
				}
				if s.Op == "log" {
					var log struct {
						RunID   string          `json:"run_id"`
						Key     string          `json:"idempotency_key"`
						Outcome string          `json:"outcome"`
						Result  json.RawMessage `json:"tool_result"`
					}
					require.NoError(t, json.Unmarshal([]byte(s.Text), &log))
					// A raw message that is null keeps its bytes; an absent one is nil.
					cache(log.RunID).Settle(log.Key, string(log.Result), log.Outcome == "ok" && log.Result != nil)
					continue
				}
				var gate struct {
					TTL *float64 `json:"ttlSeconds"`
				}
				require.NoError(t, json.Unmarshal([]byte(s.Text), &gate))
				d := cache(s.RunID)
				if d.TTL = DedupeTTL; gate.TTL != nil {
					d.TTL = time.Duration(*gate.TTL * float64(time.Second))
				}
				_, got := d.Gate(want[i].Out.Key, time.UnixMilli(s.NowMS))
				require.Equal(t, want[i].Out.Decision, [...]string{"execute", "cached", "in_flight"}[got], "step %d", i+1)
				ran++
			}
		})
	}
	require.Greater(t, ran, 30)
}
