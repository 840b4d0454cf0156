package view

import (
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Judgement is what a report says of a candidate, or of candidates pooled by model.
type Judgement struct {
	// Name is not bounded; Sentence says the verdict and its reason.
	Name, Sentence string
	// About says whom a group pools and what it mixes; empty for a candidate.
	About     string
	Verdict   stat.Verdict
	Simulated bool
	Criteria  []model.Criterion
	// Success is a candidate's; zero for a group.
	Success model.Share
}

// Judgements are those of all candidates, then those of all groups.
func Judgements(r model.Report) (list []Judgement) {
	for _, c := range r.Candidates {
		list = append(list, Judgement{Name: c.Name, Sentence: c.Sentence, Verdict: c.Verdict, Simulated: c.Simulated, Criteria: c.Criteria, Success: c.Success})
	}
	for _, g := range r.Groups {
		list = append(list, Judgement{Name: groupName(g), Sentence: g.Sentence, About: groupAbout(g), Verdict: g.Verdict, Criteria: g.Criteria})
	}
	return list
}

// Pooled marks a name as that of a group; it leaves that of a candidate as it is.
func (j Judgement) Pooled(name string) string {
	if j.About != "" {
		return name + " (pooled)"
	}
	return name
}

// Explains says that the sentence is not about the criteria alone: episodes without a
// result decided, or were left out.
func (j Judgement) Explains() bool {
	return j.Verdict != stat.NotJudged && j.Sentence != model.SentenceOf(j.Criteria)
}
