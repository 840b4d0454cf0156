package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports"
)

// findRun resolves RUN: a run folder, an id or its unique beginning below the
// runs folder, or "latest", the run whose manifest was written last.
func findRun(runs, name string) (string, error) {
	if _, err := os.Stat(filepath.Join(name, "run.json")); err == nil {
		return name, nil
	}
	entries, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("list runs: %w", err)
	}
	var found []string
	var newest int64
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(runs, e.Name(), "run.json"))
		if err != nil {
			continue
		}
		switch {
		case name == "latest":
			if t := info.ModTime().UnixNano(); found == nil || t > newest {
				found, newest = []string{e.Name()}, t
			}
		case strings.HasPrefix(e.Name(), name):
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 0:
		return "", usage(fmt.Errorf("no run %q below %s; make one with: cupel run", name, runs))
	case 1:
		return filepath.Join(runs, found[0]), nil
	}
	return "", usage(fmt.Errorf("run %q is ambiguous: %s", name, strings.Join(found, ", ")))
}

// loadRun reads a run's manifest and rows.
func loadRun(runs, name string) (string, ledger.Manifest, ledger.Rows, error) {
	dir, err := findRun(runs, name)
	if err != nil {
		return "", ledger.Manifest{}, ledger.Rows{}, err
	}
	m, err := ledger.ReadManifest(dir)
	if err != nil {
		return dir, m, ledger.Rows{}, err
	}
	if m.Status == "running" {
		return dir, m, ledger.Rows{}, unfinished(dir, m)
	}
	rows, err := ledger.Read(dir)
	harness.CleanRun(&m, &rows)
	return dir, m, rows, err
}

// unfinished says what to do about a run without a ledger.
func unfinished(dir string, m ledger.Manifest) error {
	return fmt.Errorf("run %s has not ended, so it has no ledger: if it was interrupted, go on with: %s", m.RunID, resumeHint(dir))
}

// buildReport builds the report of a run that has just ended.
func buildReport(dir string, m ledger.Manifest) (reports.Report, error) {
	rows, err := ledger.Read(dir)
	if err != nil {
		return reports.Report{}, err
	}
	return reports.Build(m, rows), nil
}

// loadReport builds the report of a run from its ledger.
func loadReport(runs, name string) (string, reports.Report, error) {
	dir, m, rows, err := loadRun(runs, name)
	if err != nil {
		return dir, reports.Report{}, err
	}
	return dir, reports.Build(m, rows), nil
}
