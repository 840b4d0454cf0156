package lines

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// behaviour is the environment variable that makes the test binary a program.
const behaviour = "CUPEL_TEST_LINES"

func TestMain(m *testing.M) {
	switch os.Getenv(behaviour) {
	case "sleeps":
		time.Sleep(time.Hour)
	case "fails":
		fmt.Fprintln(os.Stderr, "no such table")
		os.Exit(5)
	case "closes": // as programs do that check whether all was written
		_ = os.Stdout.Close()
		time.Sleep(50 * time.Millisecond)
		os.Exit(0)
	default:
		goleak.VerifyTestMain(m)
	}
}

func program(how string) Program {
	return Program{
		Command: []string{os.Args[0]}, Env: []string{behaviour}, Lookup: func(string) (string, bool) { return how, how != "" },
		Name: "the reset", Setting: "mcp",
	}
}

func TestRun(t *testing.T) {
	require.NoError(t, program("closes").Run(t.Context(), 20*time.Second))
	for how, want := range map[string]string{
		"sleeps": "did not end within 100ms; look what it waits for, or raise mcp.timeout",
		"fails":  "failed (exit status 5); run it by hand to see why; its standard error ends: no such table",
		"":       "needs the environment variable CUPEL_TEST_LINES; set it, or take it out of mcp.env",
	} {
		timeout := 20 * time.Second
		if how == "sleeps" {
			timeout = 100 * time.Millisecond
		}
		err := program(how).Run(t.Context(), timeout)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, `the reset "`+os.Args[0]+`"`)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	require.ErrorIs(t, program("sleeps").Run(ctx, time.Minute), context.Canceled)
}
