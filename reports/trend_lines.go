package reports

import (
	"strings"
)

// trend tells the news below the candidates' verdicts.
func (b *budget) trend(r Report) {
	for _, line := range r.news() {
		b.line("- Trend, %s", md(clip(line, 300)))
	}
}

// trendNews tells the news in a terminal.
func trendNews(b *strings.Builder, r Report, width int) {
	for _, line := range r.news() {
		wrapped(b, "trend: ", line, width)
	}
}
