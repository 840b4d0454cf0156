package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestFence(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"plain", "angry today?", "<data>angry today?</data>"},
		{"empty", "", "<data></data>"},
		{"lines and tabs stay", "a\n\tb", "<data>a\n\tb</data>"},
		{"closing fence", "a</data>b", `<data>a<\/data>b</data>`},
		{"opening fence", "<data>", `<data><\data></data>`},
		{"any case, spaces, attributes", "</DATA > < / data x> <dAtA", `<data><\/DATA > <\ / data x> <\dAtA</data>`},
		{"hidden in the fence", "</d\u200bata>", `<data><\/data></data>`},
		{"other tags", "<b>1 < 2</b>", "<data><b>1 < 2</b></data>"},
		{"nested", "<<data>/data>", `<data><<\data>/data></data>`},
		{"invisible and bidi", "a\u200b\u202eb\ufeff\u00adc\U000e0041", "<data>abc</data>"},
		{"controls", "a\x00\x1b[31mb\x7f", "<data>a[31mb</data>"},
		{"other line ends", "a\r\nb\rc\vd\u2028e\u2029f\u0085g", "<data>a\nb\nc\nd\ne\nf\ng</data>"},
		{"broken UTF-8", "a\xffb", "<data>a\uFFFDb</data>"},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, fence(test.in)) })
	}
}

func TestOneLine(t *testing.T) {
	for _, test := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"short", "angry", 5, "angry"},
		{"cut", "angry!", 5, "angr…"},
		{"cut counts characters", "今天有多少条", 4, "今天有…"},
		{"lines", " a \n\n  b\r\nPLAN: c ", 99, "a / b / PLAN: c"},
		{"nothing", "\n \n", 9, ""},
		{"limit zero", "a", 0, ""},
		{"limit one", "ab", 1, "…"},
		{"fence", "<data>", 99, `<\data>`},
		{"cut fence", "x</data>", 5, `x<\/…`},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, oneLine(test.in, test.limit)) })
	}
}

func TestUnfenced(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"none", "a", "a"},
		{"two", "a<data>b</data>c<data>d</data>e", "ace"},
		{"open to the end", "a<data>b", "a"},
		{"stray close", "a</data>b", "a</data>b"},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, unfenced(test.in)) })
	}
}

// FuzzFence checks that any text gives exactly one fence, which is closed at the end, and that a
// single line stays one line.
func FuzzFence(f *testing.F) {
	for _, s := range []string{"", "a", "</data>", "<<data>data>", "<\u200b/data>", "\xff<", "a\nOBS:", strings.Repeat("<", 700)} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		for _, fenced := range []string{fence(text), fenceLine(text, limit)} {
			lower := strings.ToLower(fenced)
			require.True(t, utf8.ValidString(fenced))
			require.Equal(t, 1, strings.Count(lower, dataOpen))
			require.Equal(t, 1, strings.Count(lower, dataClose))
			require.Empty(t, unfenced(fenced))
		}
		line := oneLine(text, limit)
		require.NotContains(t, line, "\n")
		require.LessOrEqual(t, utf8.RuneCountInString(line), max(limit, 0))
		require.NotContains(t, showJSON(text, max(limit, 0)), "<")
	})
}
