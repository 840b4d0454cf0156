package reports

import (
	"flag"
	"os"
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
