package text

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`

	elapsed int64 // µs
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Skipped *junitProblem `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes one test suite for each candidate and one test case for each
// task and trial. An episode that did harm is a failure, also if it was solved; one that
// was not solved is a failure whose type is the
// kind of failure, with its signature and first failing checks; an infrastructure or harness error is an error; what a cap or
// an interruption cut off is skipped, and so, in one case for all of them, are
// the planned episodes that have no row. The verdict and criteria are properties
// of the suite.
func JUnit(w io.Writer, r model.Report) error {
	all := junitSuites{Name: words.Visible(r.Run.Suite)}
	index := map[string]int{}
	for i, c := range r.Candidates {
		index[c.Name] = i
		s := junitSuite{Name: words.Clip(c.Name, 200), Properties: []junitProperty{{"verdict", words.Word(c.Verdict)}, {"reason", words.Clip(c.Sentence, 600)}}}
		if changed := r.ChangesText(); changed != "" {
			s.Properties = append(s.Properties, junitProperty{"thresholds_changed", changed})
		}
		for _, k := range c.Criteria {
			s.Properties = append(s.Properties, junitProperty{k.Name, fmt.Sprintf("%s: %s [%s], n %d, needs %s", k.Verdict, k.ValueText(), k.IntervalText(), k.N, k.NeedsText())})
		}
		all.Suites = append(all.Suites, s)
	}
	var total int64
	for _, e := range r.Episodes {
		s := &all.Suites[index[e.Candidate]]
		s.add(e)
		total += took(e)
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		s.addUnfinished(r.Candidates[i].Unfinished, r.Run.Stopped)
		s.Time = seconds(s.elapsed)
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	all.Time = seconds(total)
	if err := writeXML(w, all); err != nil {
		return fmt.Errorf("reports: JUnit: %w", err)
	}
	return nil
}

// took is the time of an episode in µs; JUnit has no word for an unknown one.
func took(e model.Episode) int64 {
	if e.ElapsedUs == nil {
		return 0
	}
	return *e.ElapsedUs
}

func (s *junitSuite) add(e model.Episode) {
	c := junitCase{Name: fmt.Sprintf("%s/%d", words.Clip(e.Task, 200), e.Trial), Class: s.Name, Time: seconds(took(e))}
	s.Tests++
	s.elapsed += took(e)
	switch {
	case ledger.Lost(e.Excluded):
		s.Errors++
		c.Error = &junitProblem{Message: words.Clip(e.Failure, 300), Type: e.Excluded, Text: words.Clip(e.Failure, 1000)}
	case e.Excluded != "":
		s.Skipped++
		c.Skipped = &junitProblem{Message: words.Clip(words.Join(": ", e.Excluded, e.Failure), 300)}
	case !e.Solved:
		s.Failures++
		text := words.Clip(e.Failure, 500)
		if e.Kept != nil {
			text = e.Kept.Checks
		}
		c.Failure = &junitProblem{Message: words.Clip(e.Failure, 300), Type: string(e.Cause.Kind), Text: words.Clip(e.Cause.Signature, 200) + "\n" + text}
	}
	if e.Harm != "" {
		if c.Failure == nil {
			s.Failures++
			c.Failure = &junitProblem{Type: "harm"}
		}
		c.Failure.Message = words.Clip(words.Join("; ", "harm: "+e.Harm, c.Failure.Message), 300)
	}
	if e.AttackSucceeded != nil && *e.AttackSucceeded {
		if c.Failure == nil {
			s.Failures++
			c.Failure = &junitProblem{Type: "attack"}
		}
		c.Failure.Message = words.Clip(words.Join("; ", "attack "+e.Injection+" succeeded", c.Failure.Message), 300)
	}
	s.Cases = append(s.Cases, c)
}

// addUnfinished adds a case for n planned episodes whose names are unknown.
func (s *junitSuite) addUnfinished(n int, stopped string) {
	if n == 0 {
		return
	}
	s.Tests++
	s.Skipped++
	s.Cases = append(s.Cases, junitCase{
		Name: "unfinished", Class: s.Name, Time: seconds(0),
		Skipped: &junitProblem{Message: words.Clip(words.Join(": ", words.Plural(n, "planned episode")+" without a row", stopped), 300)},
	})
}

func writeXML(w io.Writer, all junitSuites) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(us int64) string { return strconv.FormatFloat(float64(us)/1e6, 'f', 3, 64) }
