package words

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/internal/clip"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"lines stay", "a\n\tb\r\nc", 100, "a\n\tb\nc"},
		{"controls show", "a\x1b[2J\nb\u202Ec\x00", 100, "a\\u{1B}[2J\nb\\u{202E}c\\u{0}"},
		{"a tab among controls", "\x00\ta", 100, "\\u{0}\ta"},
		{"bad bytes", "a\xffb", 100, "a\uFFFDb"},
		{"cut between characters", "aéb", 2, "a… (3 bytes more)"},
		{"no room", "abc", -1, "… (3 bytes more)"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Lines(c.in, c.limit)) })
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\x1b\n\tb\xff", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		out := Lines(s, n%1000)
		require.Equal(t, -1, strings.IndexFunc(strings.NewReplacer("\n", "", "\t", "").Replace(out), invisible.Unsafe))
		require.LessOrEqual(t, len(out), 10*max(n%1000, 0)+40)
	})
}

func TestBounded(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aé", 2, "a…"}, {strings.Repeat("é", 3), 5, "éé…"}, {"\xff\xff\xff", 1, "\xff…"}} {
		require.Equal(t, c.want, clip.Bytes(c.in, c.n), fmt.Sprintf("%q", c.in))
	}
}

func TestLevelText(t *testing.T) {
	for v, want := range map[float64]string{0.95: "95%", 0.95775: "95.8%", 0.99: "99%", 0.9992: "99.92%", 0.9999989: "99.99989%", 1: "100%"} {
		require.Equal(t, want, Level(v))
	}
}

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
		require.Equal(t, want, Visible(in))
	}
}

func TestClip(t *testing.T) {
	require.Equal(t, "abc", Clip("abc", 3))
	require.Equal(t, "abc… (2 bytes more)", Clip("abcde", 3))
	require.Equal(t, "日本… (3 bytes more)", Clip("日本語", 2))
	long := Clip(strings.Repeat("x", 1_000_000), 100)
	require.Equal(t, strings.Repeat("x", 100)+"… (999,900 bytes more)", long)
	require.True(t, utf8.ValidString(Clip(strings.Repeat("é", 5000), 7)))
	require.Less(t, len(Clip(strings.Repeat("\u202E", 1_000_000), 100)), 200)
	require.Equal(t, "ab…", Brief("abcd", 3))
	require.Equal(t, "abcd", Brief("abcd", 4))
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		Percent(0.5):          "50.0%",
		Percent(1):            "100.0%",
		Percent(-0.0001):      "0.0%",
		Setting(0.95):         "95%",
		Setting(0.9999):       "99.99%",
		USD(0):                "$0",
		USD(4_300_000):        "$0.00430",
		USD(401_800_000):      "$0.402",
		USD(24_801e6):         "$24.80",
		USD(-5_820_000):       "−$0.00582",
		Trimmed(-1.50, 2):     "−1.5",
		Trimmed(-0.001, 2):    "0",
		Number(-2):            "−2",
		Coordinate(-1.5, 2):   "-1.5",
		Duration(999_700):     "1.00 s",
		Duration(9.996e6):     "10.0 s",
		Duration(59.96e6):     "1 min 00 s",
		Significant(-0.12345): "−0.123",
	} {
		require.Equal(t, want, got)
	}
	require.Equal(t, []string{"$0.005820", "$0.000635", Unknown, "$0.000000", "$1.200000"}, USDColumn([]*float64{new(5.82e6), new(635e3), nil, new(0.0), new(1.2e9)}))
	require.Equal(t, []string{"$1.20", "$0.00"}, USDColumn([]*float64{new(1.2e9), new(0.0)}))
}
