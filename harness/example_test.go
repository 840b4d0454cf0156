package harness_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers/all"
)

// This replays a part of the built-in suite in memory, without a key, network or files. A run needs
// only Suite and Providers; without Prices its costs are unknown.
func ExampleRun() {
	suite, err := load.Suite(counts.FS, "builtin:counts", counts.Worlds())
	if err != nil {
		log.Fatal(err)
	}
	res, err := harness.Run(context.Background(), harness.Options{
		Matrix: harness.Matrix{Suite: suite, Select: harness.Selection{Tasks: []string{"G0*"}, Candidates: []string{"strong", "weak"}}},
		Parts:  harness.Parts{Providers: all.Factories()},
	})
	if err != nil {
		log.Fatal(err)
	}
	solved := map[string]int{}
	for _, e := range res.Rows.Episodes {
		if e.Solved {
			solved[e.Candidate]++
		}
	}
	fmt.Println(res.Manifest.Status, "strong:", solved["strong"], "weak:", solved["weak"], "of", res.Manifest.Episodes/2)
	// Output: complete strong: 8 weak: 4 of 8
}
