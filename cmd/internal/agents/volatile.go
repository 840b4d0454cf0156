package agents

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/external"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// mostCompared bounds the tasks of a candidate whose recordings are compared.
const mostCompared = 16

// Volatile says of each external candidate of which a task has several recordings whose
// requests differ only in volatile texts, by which rules they would be equal.
func Volatile(o harness.Options, list []cassettes.Status) (said []string, err error) {
	files := o.Cassettes
	if files == nil {
		var closeAll func()
		files, closeAll, err = cassettes.Open(o.Suite)
		defer closeAll()
	}
	for _, c := range o.Candidates {
		if err == nil && c.Agent == strategy.External {
			said = append(said, ofCandidate(files, c, list)...)
		}
	}
	return said, err
}

func ofCandidate(files fs.FS, c goldens.Candidate, list []cassettes.Status) []string {
	first, compared := map[string]string{}, 0
	rules := gateway.Rules{Ignore: c.Ignore}
	for _, pattern := range c.Replace {
		rules.Replace = append(rules.Replace, regexp.MustCompile(pattern)) // checked with the candidate
	}
	for _, s := range list {
		parts := strings.Split(s.Path, "/")
		if len(parts) != 3 || parts[0] != c.Name || slices.Contains([]cassettes.State{cassettes.Missing, cassettes.Corrupt, cassettes.Orphan}, s.State) {
			continue
		}
		if first[parts[1]] == "" {
			first[parts[1]] = s.Path
			continue
		}
		if compared++; compared > mostCompared {
			break
		}
		a, errA := cassette.Load(cassette.File{FS: files, Path: first[parts[1]]})
		b, errB := cassette.Load(cassette.File{FS: files, Path: s.Path})
		if errA != nil || errB != nil { // the status says so
			continue
		}
		if lines := external.Volatile(a, b, rules).Lines(); len(lines) > 0 {
			return []string{fmt.Sprintf("%s and %s differ only in volatile texts; if they do not matter, add to candidate %s:\n  %s", first[parts[1]], s.Path, c.Name, strings.Join(lines, "\n  "))}
		}
	}
	return nil
}
