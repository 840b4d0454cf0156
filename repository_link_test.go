package cupel_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What only cupel-fleet needs is linked into it alone.
func TestTheProgramLinksNoQueue(t *testing.T) {
	deps := func(program string) string {
		out, err := exec.Command("go", "list", "-deps", program).Output()
		require.NoError(t, err)
		return string(out)
	}
	const queue = "github.com/nats-io/"
	require.Contains(t, deps("./cmd/cupel-fleet"), queue)
	for _, program := range []string{"./cmd/cupel", "./harness", "./harness/fleet"} {
		require.NotContains(t, deps(program), queue, program)
	}
	require.NotContains(t, strings.Fields(deps("./cmd/cupel")), module+"harness/fleet/natsfleet")
}
