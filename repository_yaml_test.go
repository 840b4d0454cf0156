package cupel_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Our code and its tests import one YAML module.
func TestOneYAMLModule(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}
{{end}}{{range .TestImports}}{{$p}} {{.}}
{{end}}{{range .XTestImports}}{{$p}} {{.}}
{{end}}`, "./...").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		who, imported, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(imported+"/", module) || !strings.Contains(imported, "yaml") {
			continue
		}
		require.Equal(t, "gopkg.in/yaml.v3", imported, "%s imports a second YAML module", who)
	}
}
