package httptool

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/goldens/world"
)

// Headers returns the headers of a tool, and the credentials in them, which lookup finds by
// the names of environment variables. The error joins every problem.
func Headers(name string, spec world.HTTPTool, lookup func(string) (string, bool)) (h http.Header, secrets []string, err error) {
	h = http.Header{}
	var errs []error
	for _, line := range spec.Headers {
		value := line.Value
		if line.Env != "" {
			secret, ok := lookup(line.Env)
			if !ok {
				errs = append(errs, fmt.Errorf("tool %s needs a value for its header %s: set %s", name, line.Name, line.Env))
				continue
			}
			if i := strings.IndexFunc(secret, func(r rune) bool { return r < ' ' || r >= 0x7f }); i >= 0 {
				errs = append(errs, fmt.Errorf("tool %s: %s has a line break or non-ASCII character at position %d", name, line.Env, i+1))
				continue
			}
			value, secrets = line.Prefix+secret, append(secrets, secret)
		}
		h.Set(line.Name, value)
	}
	return h, secrets, errors.Join(errs...)
}
