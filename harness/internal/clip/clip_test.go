package clip

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBounded(t *testing.T) {
	require.Equal(t, "short", Bounded("short", 10))
	require.Equal(t, "日…", Bounded("日本語", 5), "cut at a rune boundary")
}
