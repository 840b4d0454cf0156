package plot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

// TestWriteHardPlots writes the plots of runs that are hard to draw, to look at.
func TestWriteHardPlots(t *testing.T) {
	if *reporttest.DemoDir == "" {
		t.Skip("no -demo folder given")
	}
	for name, r := range hardReports() {
		dir := filepath.Join(*reporttest.DemoDir, "hard", name)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, writeAll(dir, r))
		require.NoError(t, WritePNGs(dir, r))
	}
}
