package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder"
)

func TestVisible(t *testing.T) {
	for name, c := range map[string]struct {
		parts []string
		want  string
	}{
		"plain":               {[]string{"a\tb\n", "│ 日本 · é\n"}, "a\tb\n│ 日本 · é\n"},
		"escapes":             {[]string{"\x1b[2J\x1b]0;title\a\r\n"}, `\u{1B}[2J\u{1B}]0;title\u{7}\u{D}` + "\n"},
		"C1":                  {[]string{"\u009b2J"}, `\u{9B}2J`},
		"bidi and separators": {[]string{"a\u202eb\u2028c\ufeff"}, `a\u{202E}b\u{2028}c\u{FEFF}`},
		"no UTF-8":            {[]string{"\x9b2J\xff\n"}, "\uFFFD2J\uFFFD\n"},
		"split characters":    {[]string{"\xe6\x97", "\xa5\xe2", "\x80", "\xaeb"}, "日\\u{202E}b"},
		"split and no more":   {[]string{"\xe6", "\n"}, "\uFFFD\n"},
	} {
		t.Run(name, func(t *testing.T) {
			out := new(strings.Builder)
			w := &visible{Writer: out}
			for _, part := range c.parts {
				n, err := io.WriteString(w, part)
				require.NoError(t, err)
				require.Equal(t, len(part), n)
			}
			require.Equal(t, c.want, out.String())
		})
	}
	_, err := (&visible{Writer: failing{}}).Write([]byte("x"))
	require.EqualError(t, err, "full")
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("full") }

// What is printed for people is inert, also where it passes through the secrets.
func TestProseIsInert(t *testing.T) {
	for _, actions := range []string{"", "true"} {
		out := new(strings.Builder)
		p := &process{env: func(string) (string, bool) { return actions, true }}
		secrets := recorder.NewSecrets()
		secrets.Add("hunter2hunter2")
		w := p.prose(guarded{out, secrets})
		_, err := io.WriteString(w, "::error::\x1b[31m hunter2hunter2\n")
		require.NoError(t, err)
		want := "::error::\\u{1B}[31m [secret]\n"
		if actions == "true" {
			want = `\` + want
		}
		require.Equal(t, want, out.String())
	}
}
