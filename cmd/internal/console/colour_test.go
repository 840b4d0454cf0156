package console

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/secrets"
)

func TestScreenHasColour(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false}, // a file is not a terminal
		{map[string]string{"CLICOLOR_FORCE": "1"}, true},
		{map[string]string{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, true},
		{map[string]string{"CLICOLOR_FORCE": "0"}, false},
		{map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, false},
		{map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": ""}, true},
	} {
		_, screen := Screen(Text(file, secrets.New()), lookup(c.env))
		require.Equal(t, c.want, screen.Colour, c.env)
	}
}

// The writer only passes colour sequences through; other control sequences are inert.
func TestColourLetsNothingElseThrough(t *testing.T) {
	known := secrets.New()
	known.Add("sk-secret-0123456789")
	var b strings.Builder
	w, screen := Screen(Text(&b, known), lookup(map[string]string{"CLICOLOR_FORCE": "1"}))
	require.True(t, screen.Colour)
	_, err := io.WriteString(w, "\x1b[31mFAIL\x1b[0m \x1b[2J\x1b[38;5;1m\u202E sk-secret-0123456789\n\x1b[31m::error::x\n")
	require.NoError(t, err)
	require.Contains(t, b.String(), "\x1b[31mFAIL\x1b[0m \\u{1B}[2J\\u{1B}[38;5;1m\\u{202E} ")
	require.NotContains(t, b.String(), "sk-secret")
	require.Contains(t, b.String(), "\n\x1b[31m:\\:error::x\n")

	b.Reset()
	w, _ = Screen(Text(&b, known), lookup(nil))
	_, err = io.WriteString(w, "\x1b[31m")
	require.NoError(t, err)
	require.Equal(t, `\u{1B}[31m`, b.String())
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}
