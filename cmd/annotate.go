package cmd

import "github.com/cupel-eval/cupel/reports"

// onActions says whether the process is part of a step of GitHub Actions, which
// reads annotations in what is printed.
func (p *process) onActions() bool {
	v, _ := p.env("GITHUB_ACTIONS")
	return v == "true"
}

// annotate prints the verdict as annotations where somebody reads them.
func (p *process) annotate(r reports.Report) error {
	if !p.onActions() {
		return nil
	}
	return reports.Annotations(p.commands, r)
}
