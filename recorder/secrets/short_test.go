package secrets

import (
	"regexp/syntax"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// least is the length in bytes of the shortest text that an expression matches.
func least(re *syntax.Regexp) int {
	sum := func() (n int) {
		for _, sub := range re.Sub {
			n += least(sub)
		}
		return n
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		return sum()
	case syntax.OpRepeat:
		return re.Min * sum()
	case syntax.OpAlternate:
		return least(slices.MinFunc(re.Sub, func(a, b *syntax.Regexp) int { return least(a) - least(b) }))
	}
	return 0 // repetitions, options, ends of words
}

func TestShortTextsMatchNoPattern(t *testing.T) {
	shortest := 1 << 10
	for _, l := range secretPatterns() {
		re, err := syntax.Parse(l.form.String(), syntax.Perl)
		require.NoError(t, err)
		n := least(re)
		if l.kind == "a bearer token" {
			n = minBearer
		}
		require.GreaterOrEqual(t, n, minPattern, l.kind)
		shortest = min(shortest, n)
	}
	require.Equal(t, minPattern, shortest)
	token := "xoxb-" + "1234567890"
	require.Equal(t, "a Slack token (xox…)", New().Find(token))
	require.Empty(t, New().Find(token[1:]))
}

func TestNoFormIsShorterThanASecret(t *testing.T) {
	for _, v := range []string{"12345678", "a b c d e", "é é é é", " 234567 ", "%%%%%%%%", "ABCDEFGH", "\x00\x01\x02\x03\x04\x05\x06\x07"} {
		s := New(v)
		for _, form := range append(s.known.Load().forms.words, s.known.Load().squeezed.words...) {
			require.GreaterOrEqual(t, len(form), minSecret, "%q of %q", form, v)
		}
		require.Equal(t, configured, s.Find(v), "%q", v)
		require.Empty(t, s.Find(v[1:]), "%q", v)
	}
}

// No view is longer than its text, so that Find can skip short texts.
func TestNoViewIsLongerThanItsText(t *testing.T) {
	for _, s := range []string{
		"&nGt;12", "&nLt;", "&gt;", "&#1234567;", "&amp;amp;", "+++", "%41%zz", "%25%34%31", `\u00e9\ud83d\ude00\x41\n`, `\ud800`, "a\n b\r\nc", "\xff\xfe&;",
		"&CounterClockwiseContourIntegral;", "&bne;", "&fjlig;", `\\\\u0041`, `&\u0026;`,
	} {
		seen := 0
		views(s, func(shown string, _ view) bool {
			seen++
			require.LessOrEqual(t, len(shown), len(s), "%q of %q", shown, s)
			return true
		})
		require.Positive(t, seen)
	}
}
