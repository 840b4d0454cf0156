package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/text"
)

// crowd returns a run of n candidates with long, similar and difficult names.
func crowd(n int) model.Report {
	var list []reporttest.Profile
	for i := range n {
		p := reporttest.DemoProfiles()[i%4]
		p.Name = fmt.Sprintf("a-rather-long-candidate-name-that-goes-on-%d", i)
		p.Model = fmt.Sprintf("model-%d", i)
		if i == 1 {
			p.Name = "候補者"
		}
		list = append(list, p)
	}
	return build(reporttest.Demo(list, 12, 1))
}

func TestPlotsForOneToEightCandidates(t *testing.T) {
	for _, n := range []int{1, 8, 2, 4, 5}[:testkit.SlowN(3, 5)] {
		r := crowd(n)
		for _, f := range r.Figures {
			svg := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, f) }, r)
			require.NoError(t, wellFormed(svg))
			require.NotContains(t, svg, "NaN")
			require.NotContains(t, svg, "Inf")
			inline, err := Inline(r, f)
			require.NoError(t, err)
			require.NoError(t, wellFormed(inline))
			if n%4 != 0 {
				continue // rasterising is slow
			}
			var b bytes.Buffer
			require.NoError(t, writePNG(&b, r, f))
			img, err := png.Decode(bytes.NewReader(b.Bytes()))
			require.NoError(t, err)
			if n == 8 && *reporttest.DemoDir != "" {
				require.NoError(t, os.MkdirAll(filepath.Join(*reporttest.DemoDir, "crowd"), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(*reporttest.DemoDir, "crowd", f.Name+".png"), b.Bytes(), 0o644))
			}
			require.True(t, frameIsBlank(img), "%s with %d candidates draws over its edge", f.Name, n)
		}
	}
}

// frameIsBlank requires that the outermost pixels have the colour of the background.
func frameIsBlank(img image.Image) bool {
	b := img.Bounds()
	same := func(x, y int) bool {
		r, g, bl, _ := img.At(x, y).RGBA()
		return r == 0xFFFF && g == 0xFFFF && bl == 0xFFFF
	}
	for x := b.Min.X; x < b.Max.X; x++ {
		if !same(x, b.Min.Y) || !same(x, b.Max.Y-1) {
			return false
		}
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		if !same(b.Min.X, y) || !same(b.Max.X-1, y) {
			return false
		}
	}
	return true
}

func wellFormed(s string) error {
	dec := xml.NewDecoder(strings.NewReader(s))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func TestLabelsAreDistinctAndDrawable(t *testing.T) {
	r := model.Report{}
	for _, n := range []string{"a-long-name-cut-here-1", "a-long-name-cut-here-2", "中文", "日本", "ok", "ok", "ok ", "", "WWWWWWWWWWWW"} {
		r.Candidates = append(r.Candidates, model.Candidate{Candidate: manifest.Candidate{Name: n}})
	}
	require.Equal(t, []string{"a-lo…re-1", "a-lo…re-2", "中文", "日本", "ok", "6 ok", "7 ok", "8", "WW…WW"}, labels(r, 9))
}

func TestWrap(t *testing.T) {
	style := paper().style(paper().ink, 10, 0, 0)
	text := "one two three four five six seven eight nine ten"
	got := wrap(text, style, 90)
	require.Greater(t, strings.Count(got, "\n"), 1)
	require.Equal(t, text, strings.ReplaceAll(got, "\n", " "))
	for line := range strings.SplitSeq(got, "\n") {
		require.LessOrEqual(t, style.Width(line).Points(), 90.0)
	}
	require.Equal(t, "indivisible-word-that-is-too-wide", wrap("indivisible-word-that-is-too-wide", style, 10))
	require.Empty(t, wrap("", style, 10))
}

func TestMiddle(t *testing.T) {
	for in, want := range map[string]string{"short": "short", "exactly-10": "exactly-10", "abcdefghijklmnop": "abcde…mnop", "ééééééééééé1": "ééééé…ééé1"} {
		require.Equal(t, want, middle(in, 10))
	}
}

// Every marking colour of the page's palette becomes a variable that the stylesheet
// defines.
func TestPageColoursAreVariables(t *testing.T) {
	for _, c := range palette {
		require.GreaterOrEqual(t, strings.Count(styleSheet(t), "--"+c.variable+":"), 3, "%s in light, dark and print", c.variable)
	}
}

// Colours of text have the contrast that WCAG 2 requires for small text, 4.5 to 1, on
// the background of the page and of the panel, in light and dark mode.
func TestContrast(t *testing.T) {
	blocks := regexp.MustCompile(`(?s):root\{[^}]*\}`).FindAllString(styleSheet(t), 2)
	for i, block := range blocks {
		colour, hexes := map[string]float64{}, map[string]string{}
		for _, m := range regexp.MustCompile(`(--[a-z0-9-]+):#([0-9a-f]{3,6})`).FindAllStringSubmatch(block, -1) {
			colour[m[1]], hexes[m[1]] = luminance(t, m[2]), m[2]
			if len(m[2]) == 3 {
				hexes[m[1]] = string([]byte{m[2][0], m[2][0], m[2][1], m[2][1], m[2][2], m[2][2]})
			}
		}
		for _, pair := range [][2]string{
			{"--ink", "--bg"}, {"--muted", "--bg"}, {"--muted", "--panel"}, {"--accent", "--bg"},
			{"--pass", "--pass-bg"}, {"--fail", "--fail-bg"}, {"--open", "--open-bg"}, {"--fail", "--bg"}, {"--open", "--bg"},
		} {
			a, b := colour[pair[0]]+0.05, colour[pair[1]]+0.05
			require.GreaterOrEqual(t, max(a, b)/min(a, b), 4.5, "palette %d: %v", i, pair)
		}
		// This is the strongest cell of a table, with its number on it.
		cell := ""
		for k := 0; k < 6; k += 2 {
			bg, _ := strconv.ParseUint(hexes["--bg"][k:k+2], 16, 8)
			fail, _ := strconv.ParseUint(hexes["--fail"][k:k+2], 16, 8)
			cell += fmt.Sprintf("%02x", int(math.Round(float64(bg)+0.56*(float64(fail)-float64(bg)))))
		}
		a, b := colour["--ink"]+0.05, luminance(t, cell)+0.05
		require.GreaterOrEqual(t, max(a, b)/min(a, b), 4.5, "palette %d: a cell", i)
	}
	require.Len(t, blocks, 2)
}

// luminance returns the relative luminance of WCAG 2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	require.NoError(t, err)
	sum := 0.0
	for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
		c := float64(n>>(8*i)&0xFF) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// Extreme values neither hang the renderer nor leave the canvas.
func TestPlotsOfExtremes(t *testing.T) {
	for name, edit := range map[string]func(*ledger.Rows){
		"nothing takes time": func(r *ledger.Rows) {
			for i := range r.Turns {
				r.Turns[i].DurationUs = new(int64)
			}
		},
		"an hour a turn": func(r *ledger.Rows) { r.Turns[0].DurationUs = new(int64(3_600_000_000)) },
		"free": func(r *ledger.Rows) {
			for i := range r.Episodes {
				r.Episodes[i].CostNanoUSD = new(int64)
			}
		},
		"dear": func(r *ledger.Rows) {
			for i := range r.Episodes {
				r.Episodes[i].CostNanoUSD = new(int64(1e15) * int64(i+1))
			}
		},
		"thousands of steps": func(r *ledger.Rows) { r.Episodes[0].Steps = 5000 },
		"confidence off the scale": func(r *ledger.Rows) {
			for i := range r.Turns {
				r.Turns[i].Confidence = new([]float64{math.NaN(), -1, 7, math.Inf(1)}[i%4])
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, rows := reporttest.Demo(reporttest.DemoProfiles(), 3, 1)
			edit(&rows)
			r := build(m, rows)
			for _, f := range r.Figures {
				svg := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, f) }, r)
				require.NotContains(t, svg, "NaN")
				require.NotContains(t, svg, "Inf")
			}
			require.NotEmpty(t, reporttest.Render(t, text.JSON, r))
		})
	}
}

func TestTicks(t *testing.T) {
	names := func(low, high float64) (s []string) {
		for _, t := range roundTicks(low, high, 6, shares) {
			s = append(s, t.label)
		}
		return s
	}
	require.Equal(t, []string{"80%", "85%", "90%", "95%", "100%"}, names(0.8, 1))
	require.Equal(t, []string{"0%", "20%", "40%", "60%", "80%", "100%"}, names(0, 1))
	require.Equal(t, []string{"95%", "96%", "97%", "98%", "99%", "100%"}, names(0.95, 1))
	for _, c := range [][2]float64{{1, 2}, {3, 3.1}, {1, 1e9}, {0.5, 40}, {1e-3, 7}, {0, 0.003}, {0, 1.9e9}} {
		all := []axis{positive("", c[0], c[1], dollars), {low: c[0], high: c[1], ticks: roundTicks(c[0], c[1], 5, dollars)}}
		if c[0] > 0 {
			all = append(all, logarithmic("", c[0], c[1], dollars))
		}
		for _, a := range all {
			require.GreaterOrEqual(t, len(a.ticks), 2, c)
			require.LessOrEqual(t, len(a.ticks), 6, c)
			require.LessOrEqual(t, a.low, c[0])
			require.GreaterOrEqual(t, a.high, c[1])
			for _, tick := range a.ticks {
				require.True(t, tick.value >= a.low && tick.value <= a.high*(1+1e-9), "%v: %v", c, tick)
			}
		}
	}
}

// styleSheet returns the style of the page that contains the plots.
func styleSheet(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "html", "page", "style.css"))
	require.NoError(t, err)
	return string(text)
}
