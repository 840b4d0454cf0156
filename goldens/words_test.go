package goldens_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
)

// TestStatusWordsAreTheAgents holds the words of the schema, and so those of
// the loader, against the statuses and stop reasons package agent declares.
func TestStatusWordsAreTheAgents(t *testing.T) {
	files, err := filepath.Glob("../agent/*.go")
	require.NoError(t, err)
	var source []byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		source = append(source, text...)
	}
	for _, kind := range []string{"Status", "StopReason"} {
		declared := regexp.MustCompile(`(?m)^\t\w+ +`+kind+` += "(\w+)"`).FindAllSubmatch(source, -1)
		require.GreaterOrEqual(t, len(declared), 6)
		for _, d := range declared {
			if word := string(d[1]); word != "error" && word != "cancelled" {
				require.Contains(t, string(goldens.Schema()), `"`+word+`"`)
			}
		}
	}
}

func TestLoadTwiceIsTheSame(t *testing.T) {
	a, err := load.Suite(counts.FS, "counts", counts.Worlds())
	require.NoError(t, err)
	b, err := load.Suite(os.DirFS("counts"), "counts", counts.Worlds())
	require.NoError(t, err)
	require.Equal(t, a.Digest, b.Digest)
	require.Equal(t, a.Tasks, b.Tasks)
}
