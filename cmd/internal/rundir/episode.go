package rundir

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// EpisodeName is task/candidate/trial.
func EpisodeName(e ledger.Episode) string {
	return fmt.Sprintf("%s/%s/%d", e.TaskID, e.Candidate, e.Trial)
}

// FindEpisode finds an episode by its id or name. The name may omit the trial if there is
// only one.
func FindEpisode(episodes []ledger.Episode, name string) (ledger.Episode, error) {
	var found []ledger.Episode
	for _, e := range episodes {
		full := EpisodeName(e)
		if e.EpisodeID == name || full == name {
			return e, nil
		}
		if strings.HasPrefix(full, name+"/") {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return ledger.Episode{}, exit.Usage(fmt.Errorf("no episode %q in this run; list them with: cupel show RUN", name))
	}
	var names []string
	for _, e := range found[:min(5, len(found))] {
		names = append(names, EpisodeName(e))
	}
	return ledger.Episode{}, exit.Usage(fmt.Errorf("%q matches %d episodes; name one of them in full, such as %s", name, len(found), strings.Join(names, " or ")))
}

// ResumeHint is the command that resumes a run that has not ended.
func ResumeHint(dir string) string {
	return "cupel run --resume " + dir
}
