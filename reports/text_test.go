package reports

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/invisible"
)

// hidden reports what no output may hold unescaped.
func hidden(r rune) bool { return invisible.Unsafe(r) }

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain, ünïcode, 中文":   "plain, ünïcode, 中文",
		"a\nb\tc\rd":           "a b c d",
		"\x1b[31mred":          `\u{1B}[31mred`,
		"user\u202Etxt.exe":    `user\u{202E}txt.exe`,
		"zero\u200Bwidth":      `zero\u{200B}width`,
		"line\u2028sep":        `line\u{2028}sep`,
		"bad\xff":              "bad\uFFFD",
		"\uFFFE\uFDD0\x00":     `\u{FFFE}\u{FDD0}\u{0}`,
		"isolate\u2066x\u2069": `isolate\u{2066}x\u{2069}`,
		"filler\u3164\uFE0F":   `filler\u{3164}\u{FE0F}`,
	} {
		require.Equal(t, want, visible(in))
	}
}

func TestClip(t *testing.T) {
	require.Equal(t, "abc", clip("abc", 3))
	require.Equal(t, "abc… (2 bytes more)", clip("abcde", 3))
	require.Equal(t, "日本… (3 bytes more)", clip("日本語", 2))
	long := clip(strings.Repeat("x", 1_000_000), 100)
	require.Equal(t, strings.Repeat("x", 100)+"… (999,900 bytes more)", long)
	require.True(t, utf8.ValidString(clip(strings.Repeat("é", 5000), 7)))
	require.Less(t, len(clip(strings.Repeat("\u202E", 1_000_000), 100)), 200)
	require.Equal(t, "ab…", brief("abcd", 3))
	require.Equal(t, "abcd", brief("abcd", 4))
}

func FuzzClip(f *testing.F) {
	f.Add("a\xffb\u202E", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 1 + (n%500+500)%500
		for _, out := range []string{clip(s, n), brief(s, n)} {
			require.True(t, utf8.ValidString(out))
			require.Less(t, utf8.RuneCountInString(out), n+40)
			require.Equal(t, -1, strings.IndexFunc(out, hidden), "%q", out)
		}
		// Whatever Markdown gives a meaning is an entity: &#NN; and nothing else.
		for _, part := range strings.Split(md(s), "&")[1:] {
			require.Regexp(t, `\A#\d+;`, part)
		}
		require.False(t, strings.ContainsAny(md(s), "<>|`*_[]@$\"'~"), "%q", md(s))
	})
}

func TestFormats(t *testing.T) {
	share := func(v, limit float64) Criterion {
		return Criterion{Kind: kindShare, Value: &v, Threshold: limit, AtLeast: true}
	}
	meanOf := func(v float64) Criterion { return Criterion{Kind: kindMean, Value: &v, Threshold: 5} }
	for got, want := range map[string]string{
		share(0.9496, 0.95).value():   "94.96%", // 95.0% would look like a pass
		share(0.949996, 0.95).value(): "94.9996%",
		share(0.95, 0.95).value():     "95.0%",
		share(1, 0.95).value():        "100%",
		share(0.8, 0.95).value():      "80.0%",
		share(0, 0.95).needs():        "≥ 95%",
		meanOf(5.001).value():         "5.001",
		meanOf(4.2).value():           "4.20",
		meanOf(1).needs():             "≤ 5",
		Criterion{}.value():           "–",
		Criterion{}.interval():        "–",
		usd(0):                        "$0",
		usd(548_123):                  "$0.000548",
		usd(12_345_678):               "$0.0123",
		usd(1_234_567_890):            "$1.23",
		usd(1):                        "$0.000000001",
		dollars(nil):                  "unknown",
		duration(90):                  "0.09 ms",
		duration(12_400):              "12 ms",
		duration(1_960_000):           "2.0 s",
		duration(125e6):               "2 min 05 s",
		thousands(-1234567):           "-1,234,567",
		thousands(999):                "999",
		plural(1, "turn"):             "1 turn",
		percent(0.95):                 "95%",
		percent(0.125):                "12.5%",
		count(nil):                    "unknown",
		(*Spread)(nil).median():       "–",
	} {
		require.Equal(t, want, got)
	}
}
