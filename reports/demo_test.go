package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestDemoPlots(t *testing.T) {
	m, rows := demo(demoProfiles(), 60, 2)
	r := Build(m, rows)
	dir := "/tmp/report-demo/plots"
	os.MkdirAll(dir, 0o755)
	for _, f := range r.Figures {
		s := time.Now()
		var b bytes.Buffer
		if err := writePNG(&b, r, f); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, f.Name+".png"), b.Bytes(), 0o644)
		b.Reset()
		if err := writeSVG(&b, r, f); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, f.Name+".svg"), b.Bytes(), 0o644)
		t.Log(f.Name, f.Title, f.Alt, time.Since(s), b.Len())
	}
	os.MkdirAll("/tmp/report-demo/report", 0o755)
	var hb bytes.Buffer
	st := time.Now()
	if err := HTML(&hb, r); err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/report-demo/report/index.html", hb.Bytes(), 0o644)
	t.Log("html", hb.Len(), time.Since(st))
	t.Log(r.Headline)
	for _, c := range r.Candidates {
		t.Log(c.Name, c.Verdict, c.Sentence)
		for _, k := range c.Criteria {
			t.Log("   ", k.Name, k.value(), k.interval(), k.N, k.needs(), k.Verdict, k.Note)
		}
	}
	for _, g := range r.Groups {
		t.Log(g.Candidates, g.Mixes, g.Verdict, g.Sentence)
	}
	t.Log(r.Notes)
}
