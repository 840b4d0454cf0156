package goldens

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/world"
)

// A world without a library is digested as it was before there were any.
func TestDigestedWorldWithoutDocuments(t *testing.T) {
	text, err := json.Marshal(digestedWorld(world.Spec{Zone: time.UTC}))
	require.NoError(t, err)
	require.NotContains(t, string(text), "Documents")
}
