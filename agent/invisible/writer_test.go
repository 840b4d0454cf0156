package invisible

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// command reads lines as runners do, and returns the first that is a command: for
// GitHub Actions trimmed and with "::" at its beginning (ActionCommand.TryParseV2),
// or "##[" anywhere (TryParse); for Azure Pipelines "##vso[" anywhere; for TeamCity
// "##teamcity["; for GitLab a section mark after an escape.
func command(text string) string {
	shown := strings.Map(func(r rune) rune {
		if r != '\n' && r != '\r' && Rune(r) && r != 0x1b {
			return -1
		}
		return r
	}, text)
	for line := range strings.FieldsFuncSeq(shown, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			return line
		}
		for _, mark := range []string{"##[", "##vso[", "##teamcity[", "\x1b[0Ksection_"} {
			if strings.Contains(line, mark) {
				return line
			}
		}
	}
	return ""
}

func TestWriter(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":               {"a\tb: c :: d\n│ 日本 · é\n# [x] #[y] ## z\n", "a\tb: c :: d\n│ 日本 · é\n# [x] #[y] ## z\n"},
		"escapes":             {"\x1b[2J\x1b]0;title\a\r\n", `\u{1B}[2J\u{1B}]0;title\u{7}\u{D}` + "\n"},
		"C1":                  {"\u009b2J", `\u{9B}2J`},
		"bidi and separators": {"a\u202eb\u2028c\ufeff", `a\u{202E}b\u{2028}c\u{FEFF}`},
		"no UTF-8":            {"\x9b2J\xff\n", "\uFFFD2J\uFFFD\n"},
		"command":             {"::error::x", `:\:error::x`},
		"indented":            {"  \t\u00a0::add-mask::x", "  \t\u00a0:\\:add-mask::x"},
		"second line":         {"a\n::stop-commands::x\n", "a\n:\\:stop-commands::x\n"},
		"carriage return":     {"a\r::error::x", `a\u{D}::error::x`},
		"hidden before":       {"\u200b::error::x", `\u{200B}::error::x`},
		"a mark before":       {"\u0301::error::x", "\u0301:\\:error::x"},
		"hidden in between":   {":\u00ad:error::x", `:\u{AD}:error::x`},
		"one colon":           {":root{}\n : x\n", ":root{}\n : x\n"},
		"a mark in between":   {":\u0301:error::x", ":\u0301\\:error::x"},
		"older form":          {"a ##[error]x", `a ##\[error]x`},
		"older, more signs":   {"a ####[error]x", `a ####\[error]x`},
		"Azure":               {"a ##vso[task.complete result=Failed;]x", `a ##\vso[task.complete result=Failed;]x`},
		"TeamCity":            {"##teamcity[buildStatus text='x']", `##\teamcity[buildStatus text='x']`},
		"GitLab":              {"\x1b[0Ksection_start:1:a\r\x1b[0K", `\u{1B}[0Ksection_start:1:a\u{D}\u{1B}[0K`},
		"Markdown":            {"# a\n## b\n### [c](d)\n", "# a\n## b\n### [c](d)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, Inert(c.in))
			require.Equal(t, c.want, Inert(c.want), "again")
			require.Empty(t, command(c.want))
			var b strings.Builder
			w := &Writer{Writer: &b}
			for i := range len(c.in) {
				n, err := w.Write([]byte{c.in[i]})
				require.NoError(t, err)
				require.Equal(t, 1, n)
			}
			require.Equal(t, c.want, b.String(), "one byte at a time")
		})
	}
	require.Equal(t, "\uFFFD", Inert("\xe6"), "a character that is cut")
	_, err := (&Writer{Writer: failing{}}).Write([]byte("x"))
	require.EqualError(t, err, "full")
}

// Commands on purpose pass; what they quote is still inert.
func TestWriterOfCommands(t *testing.T) {
	var b strings.Builder
	_, err := io.WriteString(&Writer{Writer: &b, Commands: true}, "::error title=x::a ##vso[task.x]\x1b[0m%0A::x\n::notice::b\n")
	require.NoError(t, err)
	require.Equal(t, "::error title=x::a ##\\vso[task.x]\\u{1B}[0m%0A::x\n::notice::b\n", b.String())
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func FuzzInert(f *testing.F) {
	for _, s := range []string{"::error::x", " \r::x", "##[x]", "a\n\n:", "\xff\xfe::", "##\x00[group]", "##\u0301vso[a.b]", "\u2028::x", "\x1b[0Ksection_end:1:a"} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		var b strings.Builder
		w := &Writer{Writer: &b}
		cut = min(max(cut, 0), len(s))
		for _, part := range []string{s[:cut], s[cut:]} {
			_, err := io.WriteString(w, part)
			require.NoError(t, err)
		}
		require.Empty(t, command(b.String()), "%q became %q", s, b.String())
		require.True(t, utf8.ValidString(b.String()))
		require.Equal(t, Inert(b.String()), b.String())
	})
}
