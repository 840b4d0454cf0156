package sim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestTheCodeKnowsNoTask: no file of the package, but for its tests, has a document
// of the built-in suites in it, nor anyone named there, nor what is asked.
func TestTheCodeKnowsNoTask(t *testing.T) {
	secrets := map[string]bool{}
	person := regexp.MustCompile(`\p{Lu}\pL+ \p{Lu}\pL+`)
	for name, load := range map[string]func() (*goldens.Suite, error){
		"counts":   func() (*goldens.Suite, error) { return load.Suite(counts.FS, "counts", counts.Worlds()) },
		"research": func() (*goldens.Suite, error) { return load.Suite(research.FS, "research", research.Worlds()) },
	} {
		suite, err := load()
		require.NoError(t, err, name)
		for _, task := range suite.Tasks {
			if len(task.Request) > 20 { // more than a greeting
				secrets[task.Request] = true
			}
			var state struct {
				Documents map[string]struct {
					Title, Text string
					Fields      map[string]any
				}
			}
			require.NoError(t, json.Unmarshal(task.World.State, &state))
			for id, d := range state.Documents {
				secrets[id], secrets[d.Title], secrets[d.Text] = true, true, true
				secrets[strings.TrimSuffix(d.Title, " lighthouse")] = true
				for _, who := range person.FindAllString(d.Text+" "+fmt.Sprint(d.Fields["designer"]), -1) {
					secrets[who] = true
				}
			}
		}
	}
	require.Greater(t, len(secrets), 200)
	require.True(t, secrets["Kestrel Head"] && secrets["Ines Varga"] && secrets["Maud Ister"])
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		for secret := range secrets {
			require.False(t, strings.Contains(string(code), secret), "%s knows %q", file, secret)
		}
	}
}

// TestDocumentedRates: docs/providers.md has the totals of the tables of profile.go.
func TestDocumentedRates(t *testing.T) {
	text := testkit.Doc(t, "providers.md")
	for heading, of := range map[string]func(profile) float64{
		"form of a contract object":    func(p profile) float64 { return totalRate(p.format) },
		"form of native calls":         func(p profile) float64 { return totalRate(p.native) },
		"form of the text protocol":    func(p profile) float64 { return totalRate(p.text) },
		"plans:":                       func(p profile) float64 { return totalRate(p.planning) },
		"decisions, in every protocol": func(p profile) float64 { return totalRate(p.decision) },
		"trust in what a tool says":    func(p profile) float64 { return p.trusting },
	} {
		row := regexp.MustCompile(`(?m)^\| ` + heading + `.*$`).FindString(text)
		require.NotEmpty(t, row, heading)
		cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
		require.Len(t, cells, 1+len(profiles), row)
		for i, p := range profiles {
			said, err := strconv.ParseFloat(strings.TrimSuffix(cells[i+1], " %"), 64)
			require.NoError(t, err, row)
			require.InDelta(t, 100*of(p), said, 1e-9, "%s: %s", p.name, row)
		}
	}
}

func totalRate[K any](table []rate[K]) (sum float64) {
	for _, r := range table {
		sum += r.p
	}
	return sum
}
