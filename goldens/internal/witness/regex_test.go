package witness

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRegexSamples: the text that is made of an expression is one that it is found in.
func TestRegexSamples(t *testing.T) {
	for _, expr := range []string{
		"", "abc", "(?i)AbC", "a|b|c", "[0-9]{4}-[0-9]{2}", `^\d+(\.\d+)?%?$`, "[^a-z]", `\bword\b`, "x*y+z?", "(?s).{3,5}", `\p{Greek}+`, "(a(b|c)){2}", `^$`, `[[:upper:]][[:lower:]]+`, "(?m)^line$",
		`[\x00-\x1f]`, "(?:x{10}){10}", "[\U0001F600-\U0001F64F]",
	} {
		list := regexSamples(expr)
		require.NotEmpty(t, list, expr)
		for _, text := range list {
			require.Regexp(t, expr, text)
		}
	}
	require.Empty(t, regexSamples("("))
	require.Empty(t, regexSamples(`a\bb`), "there is none")
	require.False(t, slices.ContainsFunc(regexSamples("x{1000}"), func(s string) bool { return len(s) > 2*maxSampleText }))
}
