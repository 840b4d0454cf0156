// Package night has simulations of a night with many models, for docs/scale.md. They are
// tests: requests pass cupel's own admission on the virtual clock of synctest, and cupel's own
// comparison decides after each round which models need more trials.
package night
