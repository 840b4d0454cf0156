package html

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// Each page states once why messages are missing, with the number of episodes.
func TestReportSaysWhyNothingWasSaid(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles()[:2], 3, 1))
	files := written(t, r, func(e model.Episode) (transcript.Detail, bool) {
		if e.Task == "G03" {
			return transcript.Detail{Missing: "there is no <cassette>"}, false
		}
		return transcript.Detail{Missing: "a live run stores no prompts or replies"}, false
	})
	const live = "Prompts and outputs are left out for %d episodes: a live run stores no prompts or replies."
	index := files["report/index.html"]
	require.Equal(t, 1, strings.Count(index, fmt.Sprintf(live, 4)))
	require.Equal(t, 1, strings.Count(index, "left out for 2 episodes: there is no &lt;cassette&gt;."))
	require.Contains(t, files["report/tasks/G01.html"], fmt.Sprintf(live, 2))
	require.NotContains(t, files["report/tasks/G01.html"], "cassette&gt;")
	require.Contains(t, files["report/tasks/G03.html"], "left out for 2 episodes: there is no &lt;cassette&gt;.")
	require.False(t, strings.Contains(written(t, r, tell(r))["report/index.html"], "Prompts and outputs are left out"))
}
