package text

import (
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// trend tells the news below the candidates' verdicts.
func (b *budget) trend(r model.Report) {
	for _, line := range view.News(&r) {
		b.line("- Trend, %s", Escape(words.Clip(line, 300)))
	}
}

// trendNews tells the news in a terminal.
func trendNews(b *strings.Builder, r model.Report, width int) {
	for _, line := range view.News(&r) {
		wrapped(b, "trend: ", line, width)
	}
}
