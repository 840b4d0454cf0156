package harness

import (
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// manifest returns the manifest of a run that has started.
func (r *runner) manifest() manifest.Manifest {
	m := manifest.Manifest{
		Format: manifest.Format, RunID: r.id, Mode: string(r.Mode), Suite: r.Suite.Name, SuitePath: r.Suite.Path,
		SuiteDigest: r.Suite.Digest, ConfigDigest: r.configDigest, PriceDigest: r.priceDigest,
		PriceVersion: r.Prices.Version(), CodeVersion: r.CodeVersion,
		Seed: r.Seed, Trials: r.Trials, Acceptance: r.Acceptance.Resolved(), Status: "running", Fork: manifestFork(r),
		PlanDigest: r.plan.digest, Shard: r.Select.Shard.String(), Decide: r.decision(),
	}
	if r.Mode != recorder.Replay {
		m.Started = r.today.Format(time.RFC3339Nano)
	}
	count := make([]int, len(r.plan.candidates))
	for _, c := range r.plan.cells {
		count[c.Candidate]++
	}
	for i, c := range r.plan.candidates {
		if c.planned == 0 {
			continue
		}
		if r.Fork == nil {
			m.NotSelected += r.Trials*tasksFor(r.Suite, c.Candidate) - c.planned
		}
		inAll := c.planned
		if m.Shard == "" {
			inAll = 0
		}
		m.Candidates = append(m.Candidates, manifest.Candidate{
			Name: c.Name, Agent: c.Agent, Provider: c.Provider, Model: c.Model, OutputMode: c.Mode,
			PromptProfile: c.Profile, RescueModel: c.Rescue, Simulated: drive.Simulated(c.Provider), Planned: count[i], PlannedInAll: inAll,
			Incapable: incapable(r, c.Candidate), Digest: CandidateDigest(c.Candidate), FallbackModel: c.Fallback, PlannerModel: c.Plan.ReasoningModel, Settings: agentSettings(c.Candidate),
		})
		m.Simulated = m.Simulated || drive.Simulated(c.Provider)
	}
	for _, t := range r.plan.tasks {
		if t.planned {
			m.Tasks = append(m.Tasks, drive.ManifestTask(r.Suite, t.Task))
			m.Judges = drive.AddJudges(m.Judges, t.Task)
		}
	}
	return r.cleanManifest(m)
}

// incapable is the number of planned tasks that a candidate's strategy cannot run.
func incapable(r *runner, c goldens.Candidate) (n int) {
	for _, t := range r.plan.tasks {
		n += drive.Count(t.planned && !t.Scripted && incapableOf(c, t.Task))
	}
	return n
}

// tasksFor is the number of tasks of the suite that run with a candidate.
func tasksFor(s *goldens.Suite, c goldens.Candidate) int {
	n := 0
	for _, t := range s.Tasks {
		n += drive.Count(takes(c, t))
	}
	return n
}

// concluded returns the manifest of a run that has ended.
func (r *runner) concluded(m manifest.Manifest, t manifest.Totals, o manifest.Outcomes, stop stopped) manifest.Manifest {
	m.SetTotals(t)
	m.Outcomes, m.Recorded = o, r.days.all()
	planned := r.plan.len()
	if m.Decide != nil {
		m, planned = r.upTo(m, min(m.Decide.Finished+1, len(m.Decide.Rounds)))
	}
	m.Outcomes.Unfinished = planned - t.Episodes
	m.Status, m.Stopped = drive.StatusWith(m.Outcomes), stop.why
	return r.cleanManifest(m)
}

// CandidateDigest covers the settings of a candidate except its name, the address of its
// provider and what the policy adds.
func CandidateDigest(c goldens.Candidate) string {
	c.Name = ""
	return drive.DigestOf(digestible(c), c.MaxTokens, c.Temperature)
}

// digestible returns the settings of a candidate that can change a result, with defaults
// filled in.
func digestible(c goldens.Candidate) any {
	type candidate struct {
		Name, Agent, Provider, Model, Mode, Profile, Rescue string
		RescueOnContradiction, Compress                     bool              `json:",omitempty"`
		Region                                              string            `json:",omitempty"`
		Stream                                              bool              `json:",omitempty"`
		Headers, Query                                      map[string]string `json:",omitempty"`
		Body                                                map[string]any    `json:",omitempty"`
		Agents                                              any               `json:",omitempty"` // settings that only some agents have
	}
	c = withCandidateDefaults(c)
	return candidate{
		c.Name, c.Agent, c.Provider, c.Model, c.Mode, c.Profile, c.Rescue, c.RescueOnContradiction, c.Compress,
		c.Region, c.Stream, c.Headers, c.Query, c.Body, agentPart(c),
	}
}
