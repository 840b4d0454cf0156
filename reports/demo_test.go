package reports

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var demoDir = flag.String("demo", "", "write a synthetic run's report below this folder, to look at")

// TestWriteDemo writes what a person should look at after changing a renderer.
func TestWriteDemo(t *testing.T) {
	if *demoDir == "" {
		t.Skip("no -demo folder given")
	}
	r := Build(demo(demoProfiles(), 60, 2))
	require.NoError(t, Write(*demoDir, r, nil))
	require.NoError(t, Summary(os.Stdout, r, 100))
}

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
