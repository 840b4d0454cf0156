package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
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
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes one test suite for each candidate and one test case for each
// task and trial. An episode that was not solved is a failure with its first
// failing checks; one without a result is an error; nothing is skipped. The
// verdict and criteria are properties of the suite.
func JUnit(w io.Writer, r Report) error {
	all := junitSuites{Name: visible(r.Run.Suite)}
	index := map[string]int{}
	for i, c := range r.Candidates {
		index[c.Name] = i
		s := junitSuite{Name: clip(c.Name, 200), Properties: []junitProperty{{"verdict", c.Verdict.word()}}}
		for _, k := range c.Criteria {
			s.Properties = append(s.Properties, junitProperty{k.Name, fmt.Sprintf("%s: %s [%s], n %d, needs %s", k.Verdict, k.value(), k.interval(), k.N, k.needs())})
		}
		all.Suites = append(all.Suites, s)
	}
	var total int64
	for _, e := range r.Episodes {
		s := &all.Suites[index[e.Candidate]]
		s.add(e)
		total += e.ElapsedUs
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		s.Time = seconds(s.elapsed)
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	all.Time = seconds(total)
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("reports: JUnit: %w", err)
	}
	if _, err := io.WriteString(w, xml.Header+string(text)+"\n"); err != nil {
		return fmt.Errorf("reports: JUnit: %w", err)
	}
	return nil
}

func (s *junitSuite) add(e Episode) {
	c := junitCase{Name: fmt.Sprintf("%s/%d", clip(e.Task, 200), e.Trial), Class: s.Name, Time: seconds(e.ElapsedUs)}
	s.Tests++
	s.elapsed += e.ElapsedUs
	switch {
	case e.Excluded != "":
		s.Errors++
		c.Error = &junitProblem{Message: clip(e.Failure, 300), Type: e.Excluded, Text: clip(e.Failure, 1000)}
	case !e.Solved:
		s.Failures++
		c.Failure = &junitProblem{Message: clip(e.Failure, 300), Type: brief(join(": ", e.Status, e.StopReason), 80), Text: failedChecks(e, 10)}
	}
	s.Cases = append(s.Cases, c)
}

// failedChecks lists the first failing checks, one a line.
func failedChecks(e Episode, limit int) string {
	var lines []string
	more := 0
	for _, c := range e.row.Checks {
		switch {
		case c.Passed:
		case len(lines) == limit:
			more++
		default:
			lines = append(lines, clip(join(": ", c.Name, c.Detail), 500))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, clip(e.Failure, 500))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func seconds(us int64) string { return strconv.FormatFloat(float64(us)/1e6, 'f', 3, 64) }
