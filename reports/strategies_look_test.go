package reports

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWriteStrategies writes the report of a synthetic run of three strategies, to
// look at.
func TestWriteStrategies(t *testing.T) {
	if *demoDir == "" {
		t.Skip("no -demo folder given")
	}
	r := Build(research())
	require.NoError(t, Write(filepath.Join(*demoDir, "strategies"), r, nil))
	require.NoError(t, Summary(os.Stdout, r, 100))
}
