package console

import (
	"io"
	"regexp"

	"golang.org/x/term"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/reports/text"
)

// Screen says what texts for w are laid out for, and returns the writer to print them
// with: it lets their colours through, and is w where they have none. NO_COLOR turns
// colour off; CLICOLOR_FORCE turns it on where w is not a terminal; otherwise terminals
// have it unless TERM is dumb.
func Screen(w io.Writer, env func(string) (string, bool)) (io.Writer, text.Screen) {
	s := text.Screen{Width: Width(w), Colour: coloured(w, env)}
	if g, ok := w.(guarded); ok && s.Colour {
		if inert, ok := g.Writer.(*invisible.Writer); ok {
			return guarded{colours{inert}, g.secrets}, s
		}
	}
	return w, s
}

func coloured(w io.Writer, env func(string) (string, bool)) bool {
	if no, _ := env("NO_COLOR"); no != "" {
		return false
	}
	if force, _ := env("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	kind, _ := env("TERM")
	f, ok := File(w)
	return ok && kind != "dumb" && term.IsTerminal(int(f.Fd()))
}

// sequence is a change of colour as package text makes it.
var sequence = regexp.MustCompile("\x1b\\[(?:[012]|3[123])m")

// colours writes text on as inert as before, except for changes of colour.
type colours struct{ inert *invisible.Writer }

// Write implements io.Writer.
func (c colours) Write(b []byte) (int, error) {
	at := 0
	for _, span := range sequence.FindAllIndex(b, -1) {
		if _, err := c.inert.Write(b[at:span[0]]); err != nil {
			return 0, err
		}
		if _, err := c.inert.Writer.Write(b[span[0]:span[1]]); err != nil {
			return 0, err
		}
		at = span[1]
	}
	if _, err := c.inert.Write(b[at:]); err != nil {
		return 0, err
	}
	return len(b), nil
}
