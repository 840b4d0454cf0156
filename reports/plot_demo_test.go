package reports

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWriteHardPlots writes the plots of runs that are hard to draw, to look at.
func TestWriteHardPlots(t *testing.T) {
	if *demoDir == "" {
		t.Skip("no -demo folder given")
	}
	for name, r := range hardReports() {
		dir := filepath.Join(*demoDir, "hard", name)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, writeFigures(dir, r))
	}
}
