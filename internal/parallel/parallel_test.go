package parallel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/parallel"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		calls := make([]int, n)
		parallel.Each(n, func(i int) { calls[i]++ })
		for i, c := range calls {
			require.Equal(t, 1, c, "%d of %d", i, n)
		}
	}
}
