package viewer

import (
	"os/exec"
	"runtime"
)

// OpenBrowser opens an address in the user's browser. It does nothing and returns false
// where no one would see it: over SSH, in CI and without a display. env looks up the
// environment.
func OpenBrowser(address string, env func(string) (string, bool)) bool {
	set := func(names ...string) bool {
		for _, name := range names {
			if value, _ := env(name); value != "" {
				return true
			}
		}
		return false
	}
	command := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open", address}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	default:
		if !set("DISPLAY", "WAYLAND_DISPLAY") {
			return false
		}
	}
	if set("SSH_CONNECTION", "SSH_TTY", "CI") {
		return false
	}
	cmd := exec.Command(command[0], command[1:]...)
	if cmd.Start() != nil {
		return false
	}
	go func() { _ = cmd.Wait() }() // how it ends says nothing about the browser
	return true
}
