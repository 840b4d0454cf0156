package reports

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/text"
)

// TestWriteStrategies writes the report of a synthetic run of three strategies, to
// look at.
func TestWriteStrategies(t *testing.T) {
	if *reporttest.DemoDir == "" {
		t.Skip("no -demo folder given")
	}
	r := Build(reporttest.Research())
	require.NoError(t, Write(filepath.Join(*reporttest.DemoDir, "strategies"), r, nil))
	require.NoError(t, text.Summary(os.Stdout, r, text.Screen{Width: 100}))
}
