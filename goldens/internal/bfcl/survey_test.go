package bfcl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/testkit"
)

func TestSurvey(t *testing.T) {
	kinds := map[string]int{}
	n, right, empty := 0, 0, 0
	for _, f := range []string{"simple", "multiple_function", "parallel_function", "parallel_multiple_function", "relevance"} {
		z, err := gzip.NewReader(bytes.NewReader(testkit.Shared(t, "published", "bfcl", f+".jsonl.gz")))
		require.NoError(t, err)
		in := bufio.NewScanner(z)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			var r struct {
				ID          string
				Function    json.RawMessage
				GroundTruth json.RawMessage `json:"ground_truth"`
			}
			require.NoError(t, json.Unmarshal(in.Bytes(), &r))
			fs, err := Functions(r.Function)
			require.NoError(t, err, r.ID)
			var specs []tool.Spec
			for _, f := range fs {
				specs = append(specs, tool.Spec{Name: f.Offered, Description: f.Description, Schema: f.Schema})
			}
			if _, err := tool.NewSet(specs); err != nil {
				fmt.Println(r.ID, err)
			}
			if r.GroundTruth == nil {
				r.GroundTruth = json.RawMessage("[]")
			}
			a, err := New(fs, r.GroundTruth)
			require.NoError(t, err, r.ID)
			n++
			if a.Wrong(a.Reference()) == "" {
				right++
			}
			if a.Wrong(nil) == "" {
				empty++
			}
			for _, d := range a.Defects() {
				kinds[d.Kind]++
				if d.Kind != "keyword" && d.Kind != "no_value" {
					fmt.Println(r.ID, d)
				}
			}
		}
	}
	fmt.Println(n, right, empty, kinds)
}
