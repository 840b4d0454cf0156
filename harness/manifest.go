package harness

import (
	"slices"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger"
)

func (r *runner) manifest(rows ledger.Rows) ledger.Manifest {
	m := ledger.Manifest{
		Format: 1, RunID: r.id, Mode: string(r.Mode), Suite: r.Suite.Name, SuitePath: r.Suite.Path,
		SuiteDigest: r.Suite.Digest, ConfigDigest: r.configDigest, PriceDigest: r.priceDigest,
		PriceVersion: r.Prices.Version(), LedgerDigest: ledger.Digest(rows), CodeVersion: r.CodeVersion,
		Seed: r.Seed, Trials: r.Trials, Episodes: len(rows.Episodes), Turns: len(rows.Turns),
		ToolCalls: len(rows.ToolCalls), Acceptance: r.Acceptance.Resolved(), Status: "complete", Fork: r.manifestFork(),
	}
	if len(rows.Episodes) < len(r.plan) || slices.ContainsFunc(rows.Episodes, func(e ledger.Episode) bool { return e.InfraError }) {
		m.Status = "partial"
	}
	planned := map[string]int{}
	for _, p := range r.plan {
		planned[p.candidate.Name]++
	}
	seenC, seenT := map[string]bool{}, map[string]bool{}
	for _, p := range r.plan {
		if c := p.candidate; !seenC[c.Name] {
			seenC[c.Name] = true
			m.Candidates = append(m.Candidates, ledger.ManifestCandidate{
				Name: c.Name, Agent: c.Agent, Provider: c.Provider, Model: c.Model, OutputMode: c.Mode,
				PromptProfile: c.Profile, RescueModel: c.Rescue, Simulated: simulated(c.Provider), Planned: planned[c.Name],
			})
			m.Simulated = m.Simulated || simulated(c.Provider)
		}
		if t := p.task; !seenT[t.ID] {
			seenT[t.ID] = true
			m.Tasks = append(m.Tasks, manifestTask(t))
		}
	}
	return r.cleanManifest(m)
}

func manifestTask(t goldens.Task) ledger.ManifestTask {
	return ledger.ManifestTask{ID: t.ID, Title: t.Title, Tier: t.Tier, Tags: t.Tags, Request: bounded(t.Request, 400)}
}
