package reports

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWriteDemo writes what a person should look at after changing a renderer.
func TestWriteDemo(t *testing.T) {
	if *demoDir == "" {
		t.Skip("no -demo folder given")
	}
	r := Build(demo(demoProfiles(), 60, 2))
	require.NoError(t, Write(*demoDir, r, nil))
	require.NoError(t, Summary(os.Stdout, r, 100))
}
