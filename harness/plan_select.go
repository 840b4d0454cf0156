package harness

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/internal/clip"
)

// candidates returns the selected candidates in order. The scripted candidate must be named
// by a pattern.
func (s Selection) candidates(all []goldens.Candidate) ([]goldens.Candidate, error) {
	if len(s.Candidates) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(c goldens.Candidate) bool { return c.Name == episode.ScriptedCandidate }), nil
	}
	name := func(c goldens.Candidate) string { return c.Name }
	return pick(all, s.Candidates, name, "candidate")
}

// tasks returns the selected tasks and the earlier ones of their sessions.
func (s Selection) tasks(all []goldens.Task) ([]goldens.Task, error) {
	tasks, err := s.picked(all)
	return withEarlier(all, tasks), err
}

func (s Selection) picked(all []goldens.Task) ([]goldens.Task, error) {
	tasks, err := pick(all, s.Tasks, func(t goldens.Task) string { return t.ID }, "task")
	if err != nil || len(s.Tags) == 0 {
		return tasks, err
	}
	tagged := slices.DeleteFunc(slices.Clone(tasks), func(t goldens.Task) bool {
		return !slices.ContainsFunc(s.Tags, func(tag string) bool { return slices.Contains(t.Tags, tag) || t.Tier == tag })
	})
	if len(tagged) == 0 {
		return nil, fmt.Errorf("no selected task has tag or tier %s", strings.Join(s.Tags, " or "))
	}
	return tagged, nil
}

// pick returns the items whose name matches any pattern; without a pattern it returns all.
// A pattern without a match is an error that lists the names.
func pick[E any](all []E, patterns []string, name func(E) string, what string) ([]E, error) {
	if len(patterns) == 0 {
		return all, nil
	}
	keep := make([]bool, len(all))
	var errs []error
	for _, pat := range patterns {
		hit := false
		for i, e := range all {
			ok, err := path.Match(pat, name(e))
			if err != nil {
				errs = append(errs, fmt.Errorf("%s pattern %q: %w", what, pat, err))
				break
			}
			keep[i] = keep[i] || ok
			hit = hit || ok
		}
		if !hit {
			var names []string
			for _, e := range all {
				names = append(names, name(e))
			}
			errs = append(errs, fmt.Errorf("no %s matches %q; there are: %s", what, pat, clip.Names(names, 80)))
		}
	}
	var out []E
	for i, e := range all {
		if keep[i] {
			out = append(out, e)
		}
	}
	return out, errors.Join(errs...)
}
