package harness

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/internal/drive"
)

// checkTools finds Go functions for tools the suite does not have.
func (o Options) checkTools() error {
	var errs []error
	for _, name := range drive.SortedKeys(o.Tools) {
		has := slices.ContainsFunc(o.Suite.Tools, func(s tool.Spec) bool { return s.Name == name })
		if !has || o.Tools[name] == nil {
			var names []string
			for _, s := range o.Suite.Tools {
				names = append(names, s.Name)
			}
			errs = append(errs, fmt.Errorf("tool %q: a Go function must be non-nil and have the name of one of the suite's tools: %s", name, drive.Abridge(names, 80)))
		}
	}
	return errors.Join(errs...)
}
