package reports

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/text"
)

// TestWriteDemo writes what a person should look at after changing a renderer.
func TestWriteDemo(t *testing.T) {
	if *reporttest.DemoDir == "" {
		t.Skip("no -demo folder given")
	}
	r := Build(reporttest.Demo(reporttest.DemoProfiles(), 60, 2))
	require.NoError(t, Write(*reporttest.DemoDir, r, nil))
	require.NoError(t, text.Summary(os.Stdout, r, text.Screen{Width: 100}))
}
