package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/words"
)

func FuzzClip(f *testing.F) {
	f.Add("a\xffb\u202E", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 1 + (n%500+500)%500
		for _, out := range []string{words.Clip(s, n), words.Brief(s, n)} {
			require.True(t, utf8.ValidString(out))
			require.Less(t, utf8.RuneCountInString(out), n+40)
			require.Equal(t, -1, strings.IndexFunc(out, reporttest.Hidden), "%q", out)
		}
		// Every character with a meaning in Markdown is escaped as &#NN;, and no other
		// one.
		for _, part := range strings.Split(Escape(s), "&")[1:] {
			require.Regexp(t, `\A#\d+;`, part)
		}
		require.False(t, strings.ContainsAny(Escape(s), "<>|`*_[]@$\"'~"), "%q", Escape(s))
	})
}
