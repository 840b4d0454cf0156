package clip

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestCuts(t *testing.T) {
	for _, c := range []struct {
		cut  func(string, int) string
		s    string
		n    int
		want string
	}{
		{Bytes, "short", 10, "short"}, {Bytes, "short", 5, "short"}, {Bytes, "日本語", 5, "日…"}, {Bytes, "日本語", 0, "…"}, {Bytes, "", 0, ""},
		{Runes, "日本語", 3, "日本語"}, {Runes, "日本語", 2, "日本…"}, {Runes, "abc", 0, "…"}, {Runes, "\xff\xffa", 1, "\xff…"},
		{Fit, "日本語", 3, "日本語"}, {Fit, "日本語", 2, "日…"}, {Fit, "abc", 1, "…"}, {Fit, "abc", 0, ""}, {Fit, "abc", -1, ""}, {Fit, "", 0, ""},
		{FirstBytes, "日本語", 5, "日"}, {FirstBytes, "ab", -1, ""}, {FirstRunes, "日本語", 2, "日本"}, {FirstRunes, "ab", 9, "ab"}, {FirstRunes, "ab", -1, ""},
	} {
		require.Equal(t, c.want, c.cut(c.s, c.n), "%q %d", c.s, c.n)
	}
}

func FuzzCuts(f *testing.F) {
	f.Add("日本語 text", 4)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = min(max(n, 0), 100)
		require.LessOrEqual(t, len(FirstBytes(s, n)), n)
		require.LessOrEqual(t, utf8.RuneCountInString(FirstRunes(s, n)), n)
		require.LessOrEqual(t, utf8.RuneCountInString(Fit(s, n)), n)
		for _, cut := range []string{FirstBytes(s, n), FirstRunes(s, n)} {
			require.True(t, strings.HasPrefix(s, cut))
			require.True(t, !utf8.ValidString(s) || utf8.ValidString(cut))
		}
	})
}

func TestNames(t *testing.T) {
	require.Empty(t, Names(nil, 2))
	require.Equal(t, "a, b", Names([]string{"a", "b"}, 2))
	require.Equal(t, "a, b and 2 more", Names([]string{"a", "b", "c", "d"}, 2))
}
