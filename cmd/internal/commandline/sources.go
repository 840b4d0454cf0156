package commandline

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Sources complete arguments and flags by the configuration, its runs and its suite, or a
// built-in one of these names.
func Sources(load func(*cobra.Command) (config.Config, error), suite func(path string) (*goldens.Suite, error), builtins []string) map[string]Source {
	f := files{load, suite}
	fixed := func(values ...string) Source {
		return func(*cobra.Command, []string, string) []string { return slices.Clone(values) }
	}
	return map[string]Source{
		"MODE":    fixed("replay\tfrom cassettes", "record\tfrom the network, kept on cassettes", "live\tfrom the network, nothing kept"),
		"CHANGED": fixed("refuse\tan error (default)", "skip\tleave changed tasks out", "keep\tcompare them anyway"),
		"RUN": func(c *cobra.Command, _ []string, typed string) []string {
			cfg, err := f.load(c)
			if err != nil {
				return nil
			}
			return append(runIDs(cfg.Runs, typed), "latest\tthe last run", "previous\tthe run before")
		},
		"SUITE": func(*cobra.Command, []string, string) (list []string) {
			for _, name := range builtins {
				list = append(list, "builtin:"+name)
			}
			return list
		},
		"EPISODE": f.episodeNames,
		"TASK": func(c *cobra.Command, args []string, _ string) []string {
			_, tasks, _ := f.namesFor(c, args)
			return tasks
		},
		"CANDIDATE": func(c *cobra.Command, args []string, _ string) []string {
			candidates, _, _ := f.namesFor(c, args)
			return candidates
		},
		"TAG": func(c *cobra.Command, args []string, _ string) []string {
			_, _, tags := f.namesFor(c, args)
			return tags
		},
	}
}

// files are what completion reads.
type files struct {
	load  func(*cobra.Command) (config.Config, error)
	suite func(path string) (*goldens.Suite, error)
}

// episodeNames are the episodes of the run that comes before.
func (f files) episodeNames(c *cobra.Command, args []string, _ string) (list []string) {
	cfg, err := f.load(c)
	if err != nil || len(args) == 0 {
		return nil
	}
	_, _, rows, err := rundir.Load(cfg.Runs, args[0])
	if err != nil {
		return nil
	}
	for _, e := range rows {
		outcome := "failed"
		if e.Solved {
			outcome = "solved"
		}
		list = append(list, strings.TrimSuffix(rundir.EpisodeName(e), "/1")+"\t"+outcome)
	}
	return list
}

// namesFor are the candidates, tasks and tags of the run or the suite that a command line
// is about.
func (f files) namesFor(c *cobra.Command, args []string) (candidates, tasks, tags []string) {
	cfg, err := f.load(c)
	if err != nil {
		return nil, nil, nil
	}
	if len(args) > 0 && strings.Contains(c.Use, " RUN") {
		dir, err := rundir.Find(cfg.Runs, args[0])
		if err != nil {
			return nil, nil, nil
		}
		m, _ := manifest.Read(dir)
		for _, k := range m.Candidates {
			candidates = append(candidates, k.Name+"\t"+k.Model)
		}
		for _, t := range m.Tasks {
			tasks = append(tasks, t.ID+"\t"+t.Title)
		}
		return candidates, tasks, nil
	}
	if len(args) > 0 && strings.Contains(c.Use, "SUITE") {
		cfg.Suite = args[0]
	}
	suite, err := f.suite(cfg.Suite)
	if err != nil {
		return nil, nil, nil
	}
	for _, k := range cfg.CandidatesOf(suite) {
		candidates = append(candidates, k.Name+"\t"+k.Model)
	}
	for i := range suite.Tasks {
		t := &suite.Tasks[i]
		tasks = append(tasks, t.ID+"\t"+t.Title)
		tags = append(append(tags, t.Tier), t.Tags...)
	}
	slices.Sort(tags)
	return append(candidates, "scripted\tthe scripted tasks, which test cupel"), tasks, slices.Compact(tags)
}
