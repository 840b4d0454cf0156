package cmd

import (
	"fmt"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/harness"
)

// sayNotUnderstood warns of usage that the token counts of a run do not account for,
// once for each provider and field.
func (p *process) sayNotUnderstood(res harness.Result) {
	for _, d := range res.NotUnderstood {
		_, _ = fmt.Fprintf(p.stderr, "cupel: usage of %s: %s, in %d turns, whose cost is unknown; cupel cassette audit shows the replies\n",
			d.Provider, console.Line(d.What), d.Turns)
	}
}
