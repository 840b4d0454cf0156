package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/judge"
)

// runCheck runs the program in process, for inputs that are too large or unusual for a script.
func runCheck(t *testing.T, stdin []byte, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stdin")
	require.NoError(t, os.WriteFile(name, stdin, 0o600))
	in, err := os.Open(name)
	require.NoError(t, err)
	defer func() { require.NoError(t, in.Close()) }()
	var out, errs bytes.Buffer
	code = execute(&process{args: append([]string{"contract", "check"}, args...), stdin: in, stdout: &out, stderr: &errs, env: os.LookupEnv, now: time.Now})
	return code, out.String(), errs.String()
}

func TestCheckBoundsInput(t *testing.T) {
	for _, c := range []struct {
		name  string
		stdin []byte
		args  []string
		code  int
		want  string // in the output
	}{
		{"larger than an output may be", bytes.Repeat([]byte("x"), 64<<10+1), nil, exit.Rejected, `"not_json"`},
		{"JSON larger than an output may be", []byte(`{"a":"` + strings.Repeat("x", 64<<10) + `"}`), nil, exit.Rejected, `"too_large"`},
		{"the most that is read", bytes.Repeat([]byte(" "), judge.MaxBytes), nil, exit.Rejected, `"not_json"`},
		{"more than is read", bytes.Repeat([]byte(" "), judge.MaxBytes+1), nil, exit.BadUsage, "standard input: larger than 4 MiB"},
		{"a line longer than is read", append([]byte("\"a\"\n"), bytes.Repeat([]byte("x"), judge.MaxBytes+1)...), []string{"--jsonl"}, exit.BadUsage, "standard input:2: longer than 4 MiB"},
		{"a line that is no UTF-8", []byte("\"\xff\"\n"), []string{"--jsonl"}, exit.BadUsage, "standard input:1: not valid UTF-8"},
		{"an output that is no UTF-8", []byte("{\"a\":\"\xff\"}"), nil, exit.Rejected, `"not_json"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := runCheck(t, c.stdin, c.args...)
			require.Equal(t, c.code, code)
			require.Contains(t, stdout+stderr, c.want)
		})
	}
}

// Memory does not grow with the number of lines, and each line has its number.
func TestCheckManyLines(t *testing.T) {
	const lines = 20_000
	code, stdout, _ := runCheck(t, bytes.Repeat([]byte("\"x\"\n"), lines), "--jsonl")
	require.Equal(t, exit.Rejected, code)
	require.Equal(t, lines, strings.Count(stdout, "\n"))
	require.Contains(t, stdout, `{"line":20000,`)
}
