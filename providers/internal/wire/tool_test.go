package wire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestAFailedToolSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		message providers.Message
		want    string
	}{
		"failed":                  {providers.Message{Role: providers.RoleTool, Text: "no such city", Failed: true}, "error: no such city"},
		"failed without a word":   {providers.Message{Role: providers.RoleTool, Failed: true}, "error: "},
		"done":                    {providers.Message{Role: providers.RoleTool, Text: "12"}, "12"},
		"a mark that says nought": {providers.Message{Role: providers.RoleUser, Text: "12", Failed: true}, "12"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, Said(c.message)) })
	}
}
