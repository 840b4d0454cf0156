package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder"
)

// startsCommand reads lines as the runner of GitHub Actions does: trimmed, "::"
// at the beginning, or the older "##[" anywhere; a lone carriage return ends one.
func startsCommand(text string) bool {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			return true
		}
	}
	return false
}

func TestInertText(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":             {"a: b :: c\n# [x] #[y]\n", "a: b :: c\n# [x] #[y]\n"},
		"command":           {"::error::x", `\::error::x`},
		"indented":          {"  \t\u00a0::add-mask::x", "  \t\u00a0\\::add-mask::x"},
		"second line":       {"a\n::error::x\n", "a\n\\::error::x\n"},
		"carriage return":   {"a\r::error::x", "a\r\\::error::x"},
		"hidden before":     {"\u200b\u00ad::error::x", "\u200b\u00ad\\::error::x"},
		"hidden in between": {":\u00ad:error::x", "\\:\u00ad:error::x"},
		"older form":        {"a ##[error]x", "a ## [error]x"},
		"older, hidden":     {"#\u200b#\u200b[error]x", "#\u200b#\u200b [error]x"},
		"invalid UTF-8":     {"\xff::error::x", "\xff::error::x"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			n, err := io.WriteString(&inert{Writer: &b}, c.in)
			require.NoError(t, err)
			require.Equal(t, len(c.in), n)
			require.Equal(t, c.want, b.String())
			require.False(t, startsCommand(b.String()))

			b.Reset()
			w := &inert{Writer: &b}
			for _, r := range strings.SplitAfter(c.in, "") {
				_, err := io.WriteString(w, r)
				require.NoError(t, err)
			}
			require.Equal(t, c.want, b.String(), "one character at a time")
		})
	}
}

func FuzzInert(f *testing.F) {
	for _, s := range []string{"::error::x", " \r::x", "##[x]", "a\n\n:", "\xff\xfe::", "##\x00[group]"} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		var b bytes.Buffer
		w := &inert{Writer: &b}
		cut = min(max(cut, 0), len(s))
		for cut > 0 && cut < len(s) && s[cut]&0xC0 == 0x80 { // characters come whole
			cut--
		}
		for _, part := range []string{s[:cut], s[cut:]} {
			_, err := io.WriteString(w, part)
			require.NoError(t, err)
		}
		require.False(t, startsCommand(b.String()), "%q became %q", s, b.String())
		require.LessOrEqual(t, len(s), b.Len())
	})
}

// Off GitHub nothing is touched; on it credentials are searched for first.
func TestProse(t *testing.T) {
	for name, c := range map[string]struct{ actions, want string }{
		"elsewhere": {"", "::x [secret]"}, "on Actions": {"true", `\::x [secret]`}, "not quite": {"1", "::x [secret]"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := &process{stdout: &out, stderr: &out, env: func(k string) (string, bool) { return c.actions, k == "GITHUB_ACTIONS" }}
			p.guard()
			const key = "canary##[0123456789"
			p.secrets.Add(key)
			_, err := io.WriteString(p.prose(p.stdout), "::x "+key)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(c.want, "[secret]", recorder.Hidden), out.String())
		})
	}
}
