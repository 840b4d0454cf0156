package invisible_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/invisible"
)

// defaultIgnorable is Default_Ignorable_Code_Point as DerivedCoreProperties.txt
// of Unicode lists it, unassigned code points included.
var defaultIgnorable = [][2]rune{
	{0x00AD, 0x00AD}, {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F}, {0x202A, 0x202E},
	{0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
	{0xE0000, 0xE0FFF},
}

func isDefaultIgnorable(r rune) bool {
	for _, span := range defaultIgnorable {
		if r >= span[0] && r <= span[1] {
			return true
		}
	}
	return false
}

// TestRuneIsEveryInvisibleCharacter compares the table with Unicode's definition,
// for every code point there is.
func TestRuneIsEveryInvisibleCharacter(t *testing.T) {
	count := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := isDefaultIgnorable(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Cc, r) || r == 0x2800 || r == 0x3164
		if invisible.Rune(r) != want {
			t.Errorf("%U: got %v, want %v", r, !want, want)
		}
		if want {
			count++
		}
		if drawn := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsPunct(r); drawn && invisible.Rune(r) && !isDefaultIgnorable(r) {
			t.Errorf("%U is drawn", r)
		}
		if invisible.Rune(r) && !invisible.Unsafe(r) {
			t.Errorf("%U is not escaped", r)
		}
		if blank := invisible.Blank(string(r)); utf8.ValidRune(r) && blank != (want || unicode.IsSpace(r)) {
			t.Errorf("%U: got %v, want %v", r, blank, !blank)
		}
	}
	require.Greater(t, count, 4096)
}

func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \t\n": true, "\u2800\u3164\uFE0F\u00AD\U000E0041\u2028": true, "\u200Bx": false, "0": false, "é": false, "\uFFFD": false, "❤\uFE0F": false,
	} {
		require.Equal(t, want, invisible.Blank(text), "%q", text)
	}
	require.Equal(t, "a\u200Bb", invisible.Trim("\uFEFF\u3164 a\u200Bb\u2800\n"))
}

func TestEscape(t *testing.T) {
	for _, c := range []struct{ text, keep, want string }{
		{"plain – text", "", "plain – text"},
		{"a\tb\nc", "\t", `a	b\u{A}c`},
		{"\x1b[31m\u202Eabc", "", `\u{1B}[31m\u{202E}abc`},
		{"\u2028\uE000\uFFFE\U000E0041\uFE0F\u3164", "", `\u{2028}\u{E000}\u{FFFE}\u{E0041}\u{FE0F}\u{3164}`},
		{"\xff", "", "\uFFFD"},
	} {
		require.Equal(t, c.want, invisible.Escape(c.text, c.keep))
	}
}

// FuzzEscape: nothing unsafe is left, what is safe stays as it is, and escaping
// again changes nothing.
func FuzzEscape(f *testing.F) {
	f.Add("a\u202Eb\xff\u2028")
	f.Fuzz(func(t *testing.T, text string) {
		out := invisible.Escape(text, "")
		require.True(t, utf8.ValidString(out))
		require.Negative(t, strings.IndexFunc(out, invisible.Unsafe))
		require.Equal(t, out, invisible.Escape(out, ""))
		if utf8.ValidString(text) && strings.IndexFunc(text, invisible.Unsafe) < 0 {
			require.Equal(t, text, out)
		}
	})
}
