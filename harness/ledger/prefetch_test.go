package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// The prefetch ends when its reader stops, at any episode.
func TestPrefetchEndsWithItsReader(t *testing.T) {
	dir, run := t.TempDir(), newEndless()
	run.write(t, dir, 2000, func(int) {})
	before := goleak.IgnoreCurrent()
	for _, stop := range []int{1, 2, 63, 64, 65, 500, 2000, 3000} {
		n := 0
		for rec, err := range Scan(dir) {
			require.NoError(t, err)
			want := run.at(n)
			require.Equal(t, want.Episode.EpisodeID, rec.Episode.EpisodeID)
			require.Len(t, rec.Turns, len(want.Turns))
			if n++; n == stop {
				break
			}
		}
		require.Equal(t, min(stop, 2000), n)
	}
	goleak.VerifyNone(t, before)
}
