package plot

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"html"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// foreign returns a report with one candidate for each name.
func foreign(names ...string) model.Report {
	var list []reporttest.Profile
	for i, n := range names {
		p := reporttest.DemoProfiles()[i%4]
		p.Name, p.Model = n, fmt.Sprintf("model-%d", i)
		list = append(list, p)
	}
	return build(reporttest.Demo(list, 4, 1))
}

// pngChunks returns the chunks of a picture, and checks their checksums.
func pngChunks(t *testing.T, b []byte) map[string][]string {
	t.Helper()
	require.Equal(t, "\x89PNG\r\n\x1a\n", string(b[:8]))
	chunks := map[string][]string{}
	for b = b[8:]; len(b) > 0; {
		n := binary.BigEndian.Uint32(b)
		data := b[4 : 8+n]
		require.Equal(t, crc32.ChecksumIEEE(data), binary.BigEndian.Uint32(b[8+n:]))
		chunks[string(data[:4])] = append(chunks[string(data[:4])], string(data[4:]))
		b = b[12+n:]
	}
	return chunks
}

// The SVG contains names in any script as text. The font of a PNG lacks them, so it has numbers and
// a description that maps them to names.
func TestForeignNames(t *testing.T) {
	names := []string{"候補者", "gpt-候補", "مرشح", "उम्मीदवार", "🚀🚀", "Ωmega", "ασκός", "עברית"}
	r := foreign(names...)
	for _, f := range r.Figures {
		svg := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, f) }, r)
		require.NoError(t, wellFormed(svg))
		_, drawn, _ := strings.Cut(svg, "</desc>")
		_, text, _ := strings.Cut(svg, "<desc ")
		for i, n := range names {
			if f.Name != figTTFT || r.Candidates[i].TTFT != nil {
				require.Contains(t, text, n, f.Name)
			}
		}
		require.Contains(t, drawn, names[0], f.Name)
		var b bytes.Buffer
		require.NoError(t, writePNG(&b, r, f))
		metadata := pngChunks(t, b.Bytes())["iTXt"]
		require.Len(t, metadata, 2)
		require.True(t, strings.HasPrefix(metadata[0], "Title\x00\x00\x00\x00\x00"))
		require.True(t, strings.HasPrefix(metadata[1], "Description\x00\x00\x00\x00\x00"+f.Alt), f.Name)
		if said, _ := pictured(t, r, f); f.Name == figValidity {
			require.Contains(t, metadata[1], "In the picture, #1 is 候補者; #2 gpt is gpt-候補; #3 is مرشح; #4 is उम्मीदवार; #5 is 🚀🚀; #8 is עברית.")
			require.Subset(t, said, []string{"#1", "#2 gpt", "#3", "#4", "#5", "Ωmega", "ασκός", "#8"})
		}
		_, err := png.Decode(&b)
		require.NoError(t, err)
	}
	require.Equal(t, names[0], r.Candidates[0].Name, "the report is not changed")
}

// pictured returns the texts of a picture, and the numbers that replace names in it.
func pictured(t *testing.T, r model.Report, f model.Figure) (said, substitutes []string) {
	t.Helper()
	p := page()
	p.substitutes = &substitutes
	title, body, err := p.figure(r, f)
	require.NoError(t, err)
	for _, part := range append(drawing{title}, body...) {
		for _, m := range textElement.FindAllStringSubmatch(p.svg(part), -1) {
			said = append(said, html.UnescapeString(m[1]))
		}
	}
	return said, substitutes
}

// Two names stay distinct even if the font has the same letters of both. Other
// characters that it lacks are escaped.
func TestPicturedNamesAreDistinct(t *testing.T) {
	r := foreign("候 x", "補 x", "#1 x")
	f, _ := figureNamed(r, figCost)
	f.Title = "候 x & 候補"
	said, substitutes := pictured(t, r, f)
	seen := map[string]bool{}
	for _, l := range said {
		require.True(t, drawable(l))
		require.False(t, strings.HasSuffix(l, " x") && seen[l], l)
		seen[l] = true
	}
	require.Subset(t, said, []string{`#1 x & \u{5019}\u{88DC}`, "#1 x", "#2 x", "3 #1 x"})
	require.Equal(t, []string{"#1 x is 候 x", "#2 x is 補 x"}, substitutes)
}

// A file's title and description are those of its figure, and no part refers to another
// file.
func TestSVGStandsAlone(t *testing.T) {
	r := foreign("<b>&\"'", "a\u202Eb\x00\xff")
	for _, f := range r.Figures {
		svg := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, f) }, r)
		var doc struct {
			Role  string `xml:"role,attr"`
			By    string `xml:"aria-labelledby,attr"`
			Title struct {
				ID   string `xml:"id,attr"`
				Text string `xml:",chardata"`
			} `xml:"title"`
			Desc struct {
				ID   string `xml:"id,attr"`
				Text string `xml:",chardata"`
			} `xml:"desc"`
		}
		require.NoError(t, xml.Unmarshal([]byte(svg), &doc))
		require.Equal(t, "img", doc.Role)
		require.Equal(t, doc.Title.ID+" "+doc.Desc.ID, doc.By)
		require.Equal(t, words.Visible(f.Title), doc.Title.Text)
		require.Equal(t, words.Visible(f.Alt), doc.Desc.Text)
		for _, bad := range []string{"<b>", "\u202E", "\x00", "<script", "href", "style=", "url("} {
			require.NotContains(t, svg, bad)
		}
	}
}

// The same report gives the same files, with one processor and with many.
func TestWriteFiguresIsDeterministic(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles(), 6, 1))
	write := func(procs int) map[string]string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		dir, files := t.TempDir(), map[string]string{}
		require.NoError(t, writeAll(dir, r))
		require.NoError(t, WritePNGs(dir, r))
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range list {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			files[e.Name()] = string(b)
		}
		return files
	}
	one := write(1)
	require.Equal(t, 2*len(r.Figures), len(one))
	for _, procs := range []int{8, 2}[:testkit.SlowN(1, 2)] {
		many := write(procs)
		for name := range one {
			require.True(t, one[name] == many[name], name)
		}
	}
}

func TestWriteFiguresNamesWhatFailed(t *testing.T) {
	r := foreign("a")
	require.ErrorContains(t, writeAll(filepath.Join(t.TempDir(), "nowhere"), r), "nowhere")
	require.ErrorContains(t, WritePNGs(filepath.Join(t.TempDir(), "nowhere"), r), "nowhere")
	require.NoError(t, writeAll(t.TempDir(), model.Report{}))
	none, err := DrawAll(model.Report{})
	require.NoError(t, err)
	_, err = none.Inline(r, r.Figures[0])
	require.ErrorContains(t, err, "is not drawn")
	r.Figures = []model.Figure{{Name: "portrait"}}
	require.ErrorContains(t, writeAll(t.TempDir(), r), `no plot is named "portrait"`)
	_, err = Inline(r, r.Figures[0])
	require.ErrorContains(t, err, "portrait")
}

// Files of an earlier report are removed. Files that cupel did not write are kept.
func TestFilesOfEarlierReports(t *testing.T) {
	r, dir := foreign("a"), t.TempDir()
	for _, name := range []string{"trend.svg", "cost.png", "mine.png"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.NoError(t, writeAll(dir, r))
	require.NoFileExists(t, filepath.Join(dir, "trend.svg"))
	require.NoFileExists(t, filepath.Join(dir, "cost.png"))
	require.FileExists(t, filepath.Join(dir, "mine.png"))
	require.NoError(t, WritePNGs(dir, r))
	require.FileExists(t, filepath.Join(dir, "cost.png"))
}

// A page and a file show the same drawing; a name that looks like a colour stays a name.
func TestColoursOfFiles(t *testing.T) {
	r := foreign("var(--ink)")
	d, err := DrawAll(r)
	require.NoError(t, err)
	for _, f := range r.Figures {
		file := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, f) }, r)
		require.NotContains(t, file, `="var(`)
		require.Contains(t, file, `var(--ink)`)
		once, err := d.Inline(r, f)
		require.NoError(t, err)
		again, err := Inline(r, f)
		require.NoError(t, err)
		require.Equal(t, again, once)
	}
}

// Floor: measure the texts, and write the bytes of the files.
func BenchmarkWriteFigures(b *testing.B) {
	var many []reporttest.Profile
	for i := range 12 {
		p := reporttest.DemoProfiles()[i%4]
		p.Name, p.Model = fmt.Sprintf("%s-%d", p.Name, i), fmt.Sprintf("model-%d", i)
		many = append(many, p)
	}
	for _, c := range []struct {
		name string
		r    model.Report
	}{
		{"candidates=1/tasks=1", build(reporttest.Demo(reporttest.DemoProfiles()[:1], 1, 1))},
		{"candidates=4/tasks=60", build(reporttest.Demo(reporttest.DemoProfiles(), 60, 2))},
		{"candidates=12/tasks=2000", build(reporttest.Demo(many, 2000, 1))},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			b.ReportAllocs()
			for b.Loop() {
				if err := writeAll(dir, c.r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
