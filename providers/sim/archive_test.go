package sim

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArchiveIsBounded(t *testing.T) {
	var a archive[int]
	for i := range maxArchived + 10 {
		a.put(strconv.Itoa(i), i, 1)
	}
	require.Len(t, a.entries, maxArchived)
	require.Len(t, a.order, maxArchived)
	require.Equal(t, maxArchived, a.bytes)
	_, ok := a.get("9")
	require.False(t, ok, "the oldest is forgotten")
	v, ok := a.get("10")
	require.True(t, ok)
	require.Equal(t, 10, v)

	a.put("10", 11, maxArchivedBytes-maxArchived+1) // all entries still fit
	require.Len(t, a.entries, maxArchived)
	require.Equal(t, maxArchivedBytes, a.bytes)
	a.put("11", 11, 2) // now the oldest entry, which is large, does not fit
	require.Len(t, a.entries, maxArchived-1)
	require.Equal(t, maxArchived, a.bytes)
	_, ok = a.get("10")
	require.False(t, ok)

	a.put("vast", 1, maxArchivedBytes+1)
	require.Empty(t, a.entries)
	require.Zero(t, a.bytes)
}
