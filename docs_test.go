package cupel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	pageLink  = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	inlineRef = regexp.MustCompile("`(docs/[a-z-]+\\.md)`")
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Every relative link of README.md and docs/*.md leads to a file, and to a
// heading of it; docs/README.md lists every page.
func TestDocLinks(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	index := read(t, "docs/README.md")
	for _, page := range append(pages, "README.md") {
		text := read(t, page)
		if name := filepath.Base(page); page != "README.md" && name != "README.md" && name != "formats.md" {
			require.Contains(t, index, "]("+name+"): ", "docs/README.md has no line for it")
		}
		for _, ref := range inlineRef.FindAllStringSubmatch(text, -1) {
			require.FileExists(t, ref[1], page)
		}
		for _, link := range pageLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], ":") || strings.HasPrefix(link[1], "/") {
				continue
			}
			target := page
			if link[1] != "" {
				target = filepath.Join(filepath.Dir(page), link[1])
			}
			_, err := os.Stat(target)
			require.NoError(t, err, "%s links to %s", page, link[0])
			if link[2] != "" {
				require.Contains(t, anchors(read(t, target)), link[2], "%s links to %s", page, link[0])
			}
		}
	}
}

// The first line of a page says for whom it is.
func TestPagesSayForWhom(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, page := range pages {
		require.Regexp(t, `^# [^\n]+\n\nFor [^\n]+\n`, read(t, page), page)
	}
}

// README.md stays a page that one reads to the end.
func TestReadmeIsShort(t *testing.T) {
	require.LessOrEqual(t, strings.Count(read(t, "README.md"), "\n"), 120, "README.md: move details to docs/")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// anchors returns the names by which links find the headings of a page.
func anchors(text string) (out []string) {
	for line := range strings.Lines(text) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			slug := notInSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			out = append(out, strings.ReplaceAll(slug, " ", "-"))
		}
	}
	return out
}
