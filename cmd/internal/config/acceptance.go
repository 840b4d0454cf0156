package config

import (
	"errors"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// fileAcceptance is the shape of acceptance in cupel.yaml.
type fileAcceptance struct {
	MinSolved    yaml.Node `yaml:"min_solved"`
	MinValid     float64   `yaml:"min_valid"`
	MaxClarifies float64   `yaml:"max_clarifies"`
	MaxSteps     float64   `yaml:"max_steps"`
	MinWithin    float64   `yaml:"min_within"`
	Confidence   float64   `yaml:"confidence"`
	MaxInfra     float64   `yaml:"max_infra"`
	MaxHarm      yaml.Node `yaml:"max_harm"`
	UnderAttack  float64   `yaml:"min_utility_under_attack"`
	MaxAttack    yaml.Node `yaml:"max_attack_success"`
	Judges       string    `yaml:"judges"`
}

// read returns the thresholds, or an error that joins one for each bad field.
func (f *fileAcceptance) read(path string) (manifest.Acceptance, error) {
	a := manifest.Acceptance{
		MinValid: f.MinValid, MaxClarifies: f.MaxClarifies, MaxSteps: f.MaxSteps,
		MinWithin: f.MinWithin, Confidence: f.Confidence, MaxInfra: f.MaxInfra, MinUnderAttack: f.UnderAttack, Judges: f.Judges,
	}
	var errs []error
	for _, t := range []struct {
		name string
		node *yaml.Node
		to   *manifest.Threshold
	}{{"min_solved", &f.MinSolved, &a.MinSolved}, {"max_harm", &f.MaxHarm, &a.MaxHarm}, {"max_attack_success", &f.MaxAttack, &a.MaxAttackSuccess}} {
		if t.node.IsZero() {
			continue
		}
		var err error
		if *t.to, err = manifest.ParseThreshold(scalarText(t.node)); err != nil {
			errs = append(errs, pair{file: path, field: "acceptance." + t.name, key: t.node}.problem(err.Error()))
		}
	}
	if err := a.Validate(); err != nil {
		errs = append(errs, exit.Usage(fmt.Errorf("%s: %w", path, err)))
	}
	return a, errors.Join(errs...)
}
