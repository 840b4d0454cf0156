package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// docs/behaviours.md lists every behaviour that a strategy does not have.
func TestBehavioursPage(t *testing.T) {
	page := testkit.Doc(t, "behaviours.md")
	for _, list := range []map[string]string{planElsewhere, toolsElsewhere} {
		for id := range list {
			require.Regexp(t, `(?m)^\|[B0-9, ]*`+id+`[B0-9, ]*\|`, page)
		}
	}
}
