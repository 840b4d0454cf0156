package html

import (
	"bytes"
	"fmt"
	"html/template"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/transcript"
	"github.com/cupel-eval/cupel/reports/words"
)

// renderEpisode writes a transcript as HTML.
func renderEpisode(b *bytes.Buffer, v transcript.Episode) error {
	if err := parsed().ExecuteTemplate(b, "episode", v); err != nil {
		return fmt.Errorf("reports: transcript of task %s, candidate %s: %w", v.Task, v.Candidate, err)
	}
	return nil
}

// transcripts renders kept episodes within the budget, failures first and solved
// ones last, and keeps the ledger's order. It returns where episodes are on the page.
func (v *pageView) transcripts(r model.Report) (links, error) {
	rendered, left := make([]template.HTML, len(r.Episodes)), maxTranscriptBytes
	linked, missing := links{}, 0
	var b bytes.Buffer
	for own := range model.Ranks {
		for i := range r.Episodes {
			e := &r.Episodes[i]
			if e.Rank() != own {
				continue
			}
			if left <= 0 || e.Kept == nil {
				missing++
				continue
			}
			view := e.Kept.View
			view.Anchor = e.Anchor
			b.Reset()
			if err := renderEpisode(&b, view); err != nil {
				return nil, err
			}
			left -= b.Len()
			rendered[i], linked[i] = template.HTML(b.String()), "#"+e.Anchor
		}
	}
	for _, text := range rendered {
		if text != "" {
			v.Transcripts = append(v.Transcripts, text)
		}
	}
	if missing > 0 {
		v.LeftOut = fmt.Sprintf("Here are transcripts of %s of %s: to keep this page small, %s are left out, solved ones first.",
			words.Thousands(int64(len(linked))), words.Plural(len(r.Episodes), "episode"), words.Plural(missing, "transcript"))
	}
	return linked, nil
}
