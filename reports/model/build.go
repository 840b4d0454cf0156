package model

import (
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/labelling"
	"github.com/cupel-eval/cupel/reports/trend"
	"github.com/cupel-eval/cupel/reports/words"
)

// Scripted is the provider of candidates that replay a list of replies: they
// test tasks, not models, and are shown but not judged.
const Scripted = "scripted"

// maxFailure bounds what is kept of why an episode was not solved, in bytes.
const maxFailure = 1 << 10

// Builder makes a Report of episodes that come one by one, in the ledger's
// order. It keeps counters, a few numbers for each turn that is judged, one
// Episode for each episode, and the transcripts of a bounded number; it keeps no
// pointer into the rows. It is not safe for concurrent use.
type Builder struct {
	r                   Report
	order               []*account // as candidates are shown
	by                  map[string]*account
	transcriptSelection transcriptSelection
	words               map[string]string
	own                 []ownCriterion
	fails               clusters
	jury                *judges.Jury
	// clusters are those of the tasks that are not clusters of their own.
	clusters map[string]string
	labels   labelling.Tally
	// orphans are turns and tool calls that belong to no episode.
	orphans int
	// past are the figures of earlier runs; pastNote says what is not among them.
	past     []trend.Run
	pastNote string
	figures  func(*Report) []Figure
}

// NewBuilder returns a builder of the report of m's run, without episodes. figures names
// the plots of a report; without it (nil) a report has none.
func NewBuilder(m manifest.Manifest, figures func(*Report) []Figure) *Builder {
	m.Acceptance = m.Acceptance.Resolved()
	b := &Builder{
		r:       Report{Format: 2, Run: m, Candidates: []Candidate{}, Groups: []Group{}, Tasks: []Task{}, Episodes: []Episode{}, Clusters: []Cluster{}, Notes: []string{}},
		figures: figures,
		by:      map[string]*account{}, words: map[string]string{}, own: ownCriteria(m.Acceptance.Criteria),
		fails: clusters{at: map[failure.Cause]*signatureGroup{}}, clusters: clustersOf(m),
	}
	for _, c := range m.Candidates {
		if b.by[c.Name] == nil {
			b.candidate(c)
		}
	}
	b.SetJudges(nil)
	return b
}

// JudgeBy replaces the thresholds of the run; the report says which ones changed. It is
// called before the first Add. The user's own criteria stay.
func (b *Builder) JudgeBy(a manifest.Acceptance) {
	run := &b.r.Run.Acceptance
	b.r.ThresholdsChanged = run.ChangesTo(a)
	a.Criteria = run.Criteria
	*run = a.Resolved()
}

// Add counts an episode. Candidates and tasks that only the rows know follow
// those of the manifest.
func (b *Builder) Add(rows ledger.EpisodeRows) {
	row := &rows.Episode
	e := Episode{
		ID: strings.Clone(row.EpisodeID), Task: b.word(row.TaskID), Candidate: b.word(row.Candidate), Trial: int(row.Trial),
		Status: b.word(row.Status), StopReason: b.word(row.StopReason), Excluded: row.Excluded(),
		Solved: row.Solved, Harm: b.word(clip.Bytes(row.HarmReason, maxFailure)), Steps: int(row.Steps), ElapsedUs: row.ElapsedUs,
	}
	if row.CostNanoUSD != nil {
		e.CostNanoUSD = new(*row.CostNanoUSD)
	}
	if e.Injection = b.word(row.Injection); row.AttackSucceeded != nil {
		e.AttackSucceeded = new(*row.AttackSucceeded)
	}
	e.attempt = compare.AttemptOf(&rows)
	if e.Excluded == "" {
		e.judged = b.jury.Decided(row)
	}
	why := reason(&e, row)
	e.Failure = b.word(clip.Bytes(why, maxFailure))
	if c, ok := failure.Of(rows); ok {
		e.Cause = b.fails.add(c, len(b.r.Episodes), e.Steps)
	}
	a := b.by[e.Candidate]
	if a == nil {
		a = b.candidate(manifestCandidate(row.Key))
	}
	cluster := b.word(clusterOf(b.clusters, e.Task))
	b.labels.Add(cluster, row)
	a.pool.add(cluster, &e, rows, b.r.Run.Acceptance.MaxSteps)
	a.meter.add(cluster, &e, rows)
	switch {
	case e.Excluded == "":
		a.addOwn(cluster, &rows)
	case ledger.Lost(e.Excluded):
		a.loseOwn(cluster)
	}
	b.r.Episodes = append(b.r.Episodes, e)
	if b.transcriptSelection.place(b.r.Episodes, len(rows.Turns)) {
		b.r.Episodes[len(b.r.Episodes)-1].Kept = newKeptTranscript(rows, why)
	}
}

// Report returns the finished report; the builder is of no use afterwards.
func (b *Builder) Report() Report {
	r := &b.r
	b.findShared()
	for _, a := range b.order {
		a.pool.jury, a.pool.trusting = b.jury, r.Run.Acceptance.Judges == manifest.JudgesAny
		r.Candidates = append(r.Candidates, a.judge(&r.Run, lookOf(&r.Run, a.Name)))
	}
	b.addWork()
	r.Labels = b.labels.Rows(r.Run.Acceptance.Confidence)
	r.addAnchors()
	r.addOutcomes()
	r.addGroups(b.by)
	if !r.judgesHarm() {
		r.Run.Acceptance.MaxHarm = 0 // it decided nothing
	}
	if !slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.Attacks != nil }) {
		r.Run.Acceptance.MaxAttackSuccess = 0
	}
	r.addTasks()
	r.addPasses()
	r.Judges = b.jury.List()
	r.addVerdict()
	r.addStrategies()
	b.addTrend()
	if b.figures != nil {
		r.Figures = b.figures(r)
	}
	r.addNotes(b.orphans)
	r.addSameModels()
	r.addSequentialNotes()
	r.addClusters(&b.fails)
	if b.pastNote != "" {
		r.Notes = append(r.Notes, b.pastNote)
	}
	return *r
}

// AddAll counts rows held in memory, whose three tables are in the ledger's order.
func (b *Builder) AddAll(rows ledger.Rows) {
	turns, strays := groups(rows.Turns, func(t *ledger.Turn) string { return t.EpisodeID })
	calls, more := groups(rows.ToolCalls, func(c *ledger.ToolCall) string { return c.EpisodeID })
	for _, e := range rows.Episodes {
		b.Add(ledger.EpisodeRows{Episode: e, Turns: turns[e.EpisodeID], ToolCalls: calls[e.EpisodeID]})
		delete(turns, e.EpisodeID)
		delete(calls, e.EpisodeID)
	}
	b.orphans += strays + more
	for _, list := range turns {
		b.orphans += len(list)
	}
	for _, list := range calls {
		b.orphans += len(list)
	}
}

// groups cuts a table into the rows of each episode. strays are rows apart from
// the others of their episode.
func groups[T any](table []T, id func(*T) string) (by map[string][]T, strays int) {
	by = map[string][]T{}
	for from := 0; from < len(table); {
		name, to := id(&table[from]), from+1
		for to < len(table) && id(&table[to]) == name {
			to++
		}
		if by[name] == nil {
			by[name] = table[from:to]
		} else {
			strays += to - from
		}
		from = to
	}
	return by, strays
}

// candidate opens the account of a candidate.
func (b *Builder) candidate(c manifest.Candidate) *account {
	a := &account{Candidate: c, criteria: b.own, tallies: tallies(b.own)}
	b.order = append(b.order, a)
	b.by[c.Name] = a
	return a
}

func manifestCandidate(k ledger.Key) manifest.Candidate {
	own := strings.Clone // the report outlives the rows
	return manifest.Candidate{
		Name: own(k.Candidate), Agent: own(k.Agent), Provider: own(k.Provider), Model: own(k.Model),
		OutputMode: own(k.OutputMode), PromptProfile: own(k.PromptProfile),
	}
}

// word returns a copy of s, the same one for the same text: what rows repeat is
// kept once, and rows can be let go.
func (b *Builder) word(s string) string {
	if w, ok := b.words[s]; ok {
		return w
	}
	s = strings.Clone(s)
	b.words[s] = s
	return s
}

// reason is why an episode was not solved, in one line.
func reason(e *Episode, row *ledger.Episode) string {
	if e.Solved {
		return ""
	}
	if ledger.Lost(e.Excluded) || e.Excluded == ledger.LostToCap {
		return words.Join(": ", row.ErrorKind, row.ErrorText)
	}
	for _, c := range row.Checks {
		if !c.Passed {
			return words.Join(": ", c.Name, c.Detail)
		}
	}
	return words.Join(": ", e.Status, e.StopReason)
}
