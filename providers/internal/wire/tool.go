package wire

import "github.com/cupel-eval/cupel/providers"

// Said is the text of a message for wires that have no mark of a tool's failure:
// it then says so itself. Of every other message it is Text.
func Said(m providers.Message) string {
	if m.Role == providers.RoleTool && m.Failed {
		return "error: " + m.Text
	}
	return m.Text
}
