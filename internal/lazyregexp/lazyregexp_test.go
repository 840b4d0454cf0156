package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMethodsAreThoseOfRegexp(t *testing.T) {
	const expr = `(a+)(\d)?`
	lazy, want := New(expr), regexp.MustCompile(expr)
	require.Equal(t, expr, lazy.String())
	for _, s := range []string{"", "none", "a", "xaa1-a2, aaa3", "ba b4 a"} {
		require.Equal(t, want.MatchString(s), lazy.MatchString(s))
		require.Equal(t, want.FindString(s), lazy.FindString(s))
		require.Equal(t, want.FindStringIndex(s), lazy.FindStringIndex(s))
		require.Equal(t, want.FindStringSubmatch(s), lazy.FindStringSubmatch(s))
		require.Equal(t, want.FindStringSubmatchIndex(s), lazy.FindStringSubmatchIndex(s))
		require.Equal(t, want.ReplaceAllString(s, "<$1>"), lazy.ReplaceAllString(s, "<$1>"))
		require.Equal(t, want.ReplaceAllStringFunc(s, strings.ToUpper), lazy.ReplaceAllStringFunc(s, strings.ToUpper))
		for _, n := range []int{-1, 1, 2} {
			require.Equal(t, want.FindAllIndex([]byte(s), n), lazy.FindAllIndex([]byte(s), n))
			require.Equal(t, want.FindAllSubmatchIndex([]byte(s), n), lazy.FindAllSubmatchIndex([]byte(s), n))
			require.Equal(t, want.FindAllString(s, n), lazy.FindAllString(s, n))
			require.Equal(t, want.FindAllStringIndex(s, n), lazy.FindAllStringIndex(s, n))
			require.Equal(t, want.FindAllStringSubmatch(s, n), lazy.FindAllStringSubmatch(s, n))
			require.Equal(t, want.FindAllStringSubmatchIndex(s, n), lazy.FindAllStringSubmatchIndex(s, n))
			require.Equal(t, want.Split(s, n), lazy.Split(s, n))
		}
	}
}

// A mistake in a pattern fails the tests of its package, whether they use it or not.
func TestWhenPatternsAreCompiled(t *testing.T) {
	require.Panics(t, func() { New(`(`) }, "in a test binary")
	args := os.Args
	defer func() { os.Args = args }()
	for _, name := range []string{"cupel", "test"} {
		os.Args = []string{name}
		wrong := New(`(`)
		require.Panics(t, func() { wrong.MatchString("") })
	}
}
