package yamlfile

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// NameRule says which names are allowed where; path-safe ones become folders.
type NameRule struct {
	pattern  *lazyregexp.Regexp
	says     string
	pathSafe bool
}

// maxNameBytes bounds a name.
const maxNameBytes = 100

// The rules for names of suites, candidates and worlds, of tasks, and of tools.
var (
	LowerName = NameRule{lazyregexp.New(`^[a-z0-9._-]+$`), "a-z, 0-9, dot, dash and underscore", true}
	TaskName  = NameRule{lazyregexp.New(`^[A-Za-z0-9._-]+$`), "letters, digits, dot, dash and underscore", true}
	ToolName  = NameRule{lazyregexp.New(`^[A-Za-z0-9_-]+$`), "letters, digits, dash and underscore", false}
)

// The rules for ids of documents and names of their fields.
var (
	DocumentID = NameRule{lazyregexp.New(`^[a-z0-9-]+$`), "a-z, 0-9 and dash", false}
	FieldName  = NameRule{lazyregexp.New(`^[a-z0-9_]+$`), "a-z, 0-9 and underscore", false}
)

// reservedName matches what Windows takes for a device, regardless of its extension.
var reservedName = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// Fault says why name breaks the rule, or nothing.
func (r NameRule) Fault(name string) string {
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

// CheckName records a name that breaks the rule. A blank name has been
// reported when it was read.
func (p Place) CheckName(r NameRule, name string) {
	if fault := r.Fault(name); fault != "" {
		p.Failf("%s", fault)
	}
}

// EnvName matches the name of an environment variable.
var EnvName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// HeaderName and HeaderText match the name of an HTTP header and what it may hold.
var (
	HeaderName = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	HeaderText = lazyregexp.New(`^[ -~]*$`)
	// SecretName matches headers that carry credentials.
	SecretName = lazyregexp.New(`(?i)auth|key|token|secret|password|cookie|credential|signature`)
)
