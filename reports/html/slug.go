package html

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/transcript"
	"github.com/cupel-eval/cupel/reports/words"
)

// links are where episodes are shown, by index; what is shown nowhere is absent.
type links map[int]string

// slugs names files after ids: letters, digits, "-" and "_", at most 48, unique
// on file systems that fold case, and no device of Windows. An id that is such a
// name keeps it, if no earlier one has; another gets a few digits of its hash.
type slugs map[string]bool

var (
	unplain  = regexp.MustCompile(`[^A-Za-z0-9_]+`)
	reserved = regexp.MustCompile(`\A(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])\z`)
)

func (s slugs) of(id string) string {
	slug := strings.Trim(unplain.ReplaceAllString(clip.Bytes(id, 160), "-"), "-")
	slug = strings.TrimRight(slug[:min(len(slug), 40)], "-")
	base := slug
	for n := 0; slug == "" || slug != id || reserved.MatchString(slug) || s[strings.ToLower(slug)]; n++ {
		if slug = words.Join("-", base, transcript.Digest(fmt.Sprint(id, "\x00", n))); !s[strings.ToLower(slug)] {
			break
		}
	}
	s[strings.ToLower(slug)] = true
	return slug
}
