package dots

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
)

func share(value, low, high float64, v stat.Verdict) model.Criterion {
	return model.Criterion{Kind: "share", Value: &value, Interval: &stat.Interval{Low: low, High: high}, Threshold: 0.8, AtLeast: true, Verdict: v}
}

var places = regexp.MustCompile(` x1?="([^"]*)%"`)

func said(s string) string {
	var texts []string
	for _, m := range regexp.MustCompile(`>([^<]+)</text>`).FindAllStringSubmatch(s, -1) {
		texts = append(texts, m[1])
	}
	return strings.Join(texts, "|")
}

// Rows share an axis: the threshold is at the same place in all of them and in the
// header.
func TestRowsShareAnAxis(t *testing.T) {
	list := []model.Criterion{share(0.98, 0.93, 1, stat.Pass), share(0.58, 0.477, 0.678, stat.Fail), share(0.8, 0.7, 0.9, stat.Inconclusive), {Kind: "share", Verdict: stat.NotJudged}, share(0.8, 0.7, 0.9, stat.NotJudged)}
	p, ok := New(list)
	require.True(t, ok)
	require.Equal(t, "≥ 80%|40%|60%|80%|100%", said(string(p.Scale())))
	for _, c := range list {
		require.Contains(t, string(p.Row(c)), `<line x1="64.67%" x2="64.67%" y1="0" y2="100%" stroke="var(--ink)" stroke-dasharray="3 3"/>`)
	}
	marks := map[string]bool{}
	for _, v := range []stat.Verdict{stat.Pass, stat.Fail, stat.Inconclusive, stat.NotJudged} {
		_, outline := look(v)
		marks[outline] = true
	}
	require.Len(t, marks, 4, "shapes differ, not only colours")
	require.NotContains(t, string(p.Row(list[3])), "<path", "there is nothing to mark")
}

// Axes have round, bounded ends, and omit a threshold that does not gate.
func TestAxes(t *testing.T) {
	mean := func(value, low, high, threshold float64) model.Criterion {
		return model.Criterion{Kind: "mean", Value: &value, Interval: &stat.Interval{Low: low, High: high}, Threshold: threshold, Verdict: stat.Pass}
	}
	for _, c := range []struct {
		want string
		list []model.Criterion
	}{
		{"≤ 5|2|3|4|5", []model.Criterion{mean(2.4, 2.1, 2.7, 5)}},
		{"≤ 1|0|0.25|0.5|0.75|1", []model.Criterion{mean(0, 0, 0.04, 1)}},
		{"≤ 0|0|0.025|0.05|0.075|0.1", []model.Criterion{mean(0, 0, 0, 0)}},
		{"60%|70%|80%|90%|100%", []model.Criterion{share(1, 0.93, 1, stat.NotJudged), share(0.7, 0.61, 0.8, stat.NotJudged)}},
		{"94%|96%|98%|100%", []model.Criterion{share(1, 1, 1, stat.NotJudged)}},
	} {
		p, ok := New(c.list)
		require.True(t, ok)
		require.Equal(t, c.want, said(string(p.Scale())))
		for _, m := range places.FindAllStringSubmatch(string(p.Scale())+string(p.Row(c.list[0])), -1) {
			require.Regexp(t, `^(6|[6-9]\.\d+|[1-8]\d(\.\d+)?|9[0-4](\.\d+)?)$`, m[1], "inside the element")
		}
	}
	_, ok := New([]model.Criterion{{Kind: "share"}})
	require.False(t, ok)
}

// TestLook writes a page to look at, where CUPEL_LOOK names a folder.
func TestLook(t *testing.T) {
	dir := os.Getenv("CUPEL_LOOK")
	if dir == "" {
		t.Skip("CUPEL_LOOK names no folder")
	}
	list := []model.Criterion{share(0.98, 0.93, 1, stat.Pass), share(0.58, 0.477, 0.678, stat.Fail), share(0.8, 0.7, 0.9, stat.Inconclusive), share(0.7, 0.6, 0.75, stat.NotJudged)}
	p, _ := New(list)
	page := `<style>:root{color-scheme:light dark;--bg:light-dark(#fff,#111);--ink:light-dark(#1f2430,#eee);--muted:#888;--grid:light-dark(#e3e6ec,#333);--pass:#1e7f4f;--fail:#b3342c;--open:#9a6a00}body{font:14px sans-serif;background:var(--bg);color:var(--ink)}table{width:100%;border-collapse:collapse}td{padding:0 .5rem}td:nth-child(2){width:60%}.dots{display:block}td .dots{height:2rem}</style><table><tr><td><td>` + string(p.Scale())
	for _, c := range list {
		page += "<tr><td>" + string(c.Verdict) + " " + c.ValueText() + "<td>" + string(p.Row(c))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dots.html"), []byte(page+"</table>"), 0o600))
}
