package admission

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// short writes a duration without zero minutes and seconds.
func short(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

// docs/providers.md has all waiting times.
func TestWaitsAreStated(t *testing.T) {
	text, err := os.ReadFile("../../docs/providers.md")
	require.NoError(t, err)
	for _, line := range []string{
		fmt.Sprintf("| for `Retry-After` and `retryDelay`, before anything is sent with the same provider and key | %s |", short(maxAdvice)),
		fmt.Sprintf("| for a reset header | %s |", short(maxPause)),
		fmt.Sprintf("| for a provider that refuses one request at a time, and says nothing | %s, doubling up to %v |", minBackoff, maxBackoff),
	} {
		require.Contains(t, string(text), line)
	}
}
