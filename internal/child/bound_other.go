//go:build unix && !linux

package child

import "os/exec"

// bound starts a command. Nothing ends it with this process.
func (g *group) bound(cmd *exec.Cmd) error { return cmd.Start() }
