package draft

import (
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// comment is text of unknown origin as one line of a comment, bounded.
func comment(s string) string {
	q := strconv.Quote(clip.Bytes(s, maxComment))
	return strings.TrimRight("# "+strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q[1:len(q)-1]), " ")
}

// maxComment bounds a line of a comment, in bytes.
const maxComment = 400
