package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

func TestAnchorsAreUniqueAndPlain(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(4, "t", true, 1, nil)
	w.Rows.Episodes[1].EpisodeID = w.Rows.Episodes[0].EpisodeID
	w.Rows.Episodes[2].EpisodeID = `"><x`
	w.Rows.Episodes[3].EpisodeID = ""
	var got []string
	for _, e := range build(w.M, w.Rows).Episodes {
		got = append(got, e.Anchor)
	}
	require.Equal(t, []string{"ep-e0", "ep--1", "ep--2", "ep--3"}, got)
}

func TestFailureWords(t *testing.T) {
	for _, c := range []struct {
		name, want string
		edit       func(*ledger.Episode)
	}{
		{"solved", "", func(e *ledger.Episode) { e.Solved = true }},
		{"first failing check", "b: no", func(e *ledger.Episode) {
			e.Checks = []ledger.Check{{Name: "a", Passed: true}, {Name: "b", Detail: "no"}, {Name: "c"}}
		}},
		{"check without detail", "b", func(e *ledger.Episode) { e.Checks = []ledger.Check{{Name: "b"}} }},
		{"no checks", "stopped: stall", func(e *ledger.Episode) { e.Status, e.StopReason = "stopped", "stall" }},
		{"infrastructure", "quota: none left", func(e *ledger.Episode) { e.InfraError, e.ErrorKind, e.ErrorText = true, "quota", "none left" }},
		{"interrupted", "cancelled", func(e *ledger.Episode) { e.Status = "cancelled" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reporttest.NewWorld("a")
			w.Add(1, "t", false, 1, func(e *ledger.Episode, _ []ledger.Turn) { c.edit(e) })
			require.Equal(t, c.want, build(w.M, w.Rows).Episodes[0].Failure)
		})
	}
}
