package guard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBreaker(t *testing.T) {
	// Each letter is a call, one second apart: f fails, s succeeds, x must be refused;
	// P is a pause of 60 seconds. All calls except x must be allowed.
	for _, test := range []struct{ name, calls string }{
		{"four samples are needed", "fffsx"},
		{"half is not more than half", "ffss" + "s"},
		{"opens at four of four", "ffffxx"},
		{"window of ten forgets", "ssssssssssfffff" + "f" + "x"},
		{"probe succeeds and forgets the past", "ffffxPsfff"},
		{"probe fails", "ffffxPfxPs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b Breaker
			now := epoch
			for i, c := range test.calls {
				now = now.Add(time.Second)
				switch c {
				case 'P':
					now = now.Add(breakerPause)
					continue
				case 'x':
					require.False(t, b.Allows("t", now), "call %d of %s", i+1, test.calls)
				default:
					require.True(t, b.Allows("t", now), "call %d of %s", i+1, test.calls)
					b.Record("t", c == 'f', now)
				}
			}
			require.True(t, b.Allows("other", now))
		})
	}
}

func TestBreakerPauseIsInclusive(t *testing.T) {
	var b Breaker
	for range breakerSamples {
		b.Record("t", true, epoch)
	}
	require.False(t, b.Allows("t", epoch.Add(breakerPause-1)))
	require.True(t, b.Allows("t", epoch.Add(breakerPause)))
}

// TestBreakerAgainstSlow recomputes the state from the whole history each time.
func TestBreakerAgainstSlow(t *testing.T) {
	type outcome struct {
		failed bool
		at     time.Time
	}
	opened := func(history []outcome) (open bool, since time.Time) {
		var recent []bool
		for _, o := range history {
			if open && !o.failed {
				open, recent = false, nil
				continue
			}
			recent = append(recent, o.failed)
			bad, n := 0, min(len(recent), 10)
			for _, f := range recent[len(recent)-n:] {
				if f {
					bad++
				}
			}
			if open || n >= 4 && float64(bad)/float64(n) > 0.5 {
				open, since = true, o.at
			}
		}
		return open, since
	}
	rapid.Check(t, func(t *rapid.T) {
		var b Breaker
		var history []outcome
		now := epoch
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			open, since := opened(history)
			want := !open || now.Sub(since) >= 60*time.Second
			require.Equal(t, want, b.Allows("t", now))
			if want {
				o := outcome{rapid.Bool().Draw(t, "failed"), now}
				b.Record("t", o.failed, o.at)
				history = append(history, o)
			}
		}
	})
}
