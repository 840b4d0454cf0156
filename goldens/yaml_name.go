package goldens

import (
	"fmt"
	"regexp"
	"strings"
)

// A nameRule says which names are allowed where; path-safe ones become folders.
type nameRule struct {
	pattern  *regexp.Regexp
	says     string
	pathSafe bool
}

// maxNameBytes bounds a name.
const maxNameBytes = 100

var (
	lowerName = nameRule{regexp.MustCompile(`^[a-z0-9._-]+$`), "a-z, 0-9, dot, dash and underscore", true}
	taskName  = nameRule{regexp.MustCompile(`^[A-Za-z0-9._-]+$`), "letters, digits, dot, dash and underscore", true}
	toolName  = nameRule{regexp.MustCompile(`^[A-Za-z0-9_-]+$`), "letters, digits, dash and underscore", false}
)

// reservedName matches what Windows takes for a device, whatever its extension.
var reservedName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// fault says why name breaks the rule, or nothing.
func (r nameRule) fault(name string) string {
	switch {
	case name == "":
		return ""
	case !r.pattern.MatchString(name):
		return fmt.Sprintf("%q may hold only %s", name, r.says)
	case len(name) > maxNameBytes:
		return fmt.Sprintf("%q is longer than %d characters", name, maxNameBytes)
	case r.pathSafe && (strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".")):
		return fmt.Sprintf("%q must not begin or end with a dot: it becomes a folder name", name)
	case r.pathSafe && reservedName.MatchString(name):
		return fmt.Sprintf("%q is a reserved name on Windows, where it cannot be a folder", name)
	}
	return ""
}

// checkName records a name that breaks the rule. A blank name has been
// reported when it was read.
func (p place) checkName(r nameRule, name string) {
	if fault := r.fault(name); fault != "" {
		p.failf("%s", fault)
	}
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

var (
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	headerText = regexp.MustCompile(`^[ -~]*$`)
	// secretName matches headers that carry credentials.
	secretName = regexp.MustCompile(`(?i)auth|key|token|secret|password|cookie|credential|signature`)
)
