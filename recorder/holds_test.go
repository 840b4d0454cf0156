package recorder_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder"
)

func TestHoldsSecret(t *testing.T) {
	secrets := []string{"canary-0123456789", "short"}
	for text, want := range map[string]bool{
		"":                                 false,
		"nothing here":                     false,
		"it is canary-0123456789.":         true,
		`{"a": "\u0063anary-0123456789"}`:  true,
		"q=canary%2D0123456789":            true,
		"Y2FuYXJ5LTAxMjM0NTY3ODk=":         true,
		"sk-abcdefghijklmnopqrstuvwxyz123": true,
		"too short to be looked for":       false,
	} {
		require.Equal(t, want, recorder.HoldsSecret(text, secrets), text)
	}
}
