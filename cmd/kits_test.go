package cmd

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

const kits = "../docs/ci"

// fakeCupel replaces cupel in tests of the kits. Its runs read their outcomes from the lines of
// $FAKE/plan-N, where N is the shard.
const fakeCupel = `#!/usr/bin/env bash
printf '%s\n' "$*" >>"$FAKE/calls"
verb=$1 runs=${CUPEL_RUNS:-runs} shard=1/1 run='' out=()
while shift && [ $# -gt 0 ]; do
	case $1 in
	--runs) runs=$2; shift ;;
	--shard) shard=$2; shift ;;
	--resume) run=$2; shift ;;
	-o) out+=("$2"); shift ;;
	*) [ "$verb" != merge ] || [ -f "$1/run.json" ] || exit 2 ;;
	esac
done
manifest() { printf '{\n  "status": "%s",\n  "outcomes": {\n    "budget_stops": %s\n  }\n}\n' "$1" "$2" >"$run/run.json"; }
case $verb in
run)
	[ -n "$run" ] || { run=$runs/run-${shard%/*}; mkdir -p "$run"; echo "${shard%/*}" >"$run/shard"; }
	plan=$FAKE/plan-$(cat "$run/shard")
	outcome=$(head -n 1 "$plan" 2>/dev/null)
	sed -i 1d "$plan" 2>/dev/null
	case ${outcome:-complete} in
	complete)
		mkdir "$FAKE/busy" || echo "in parallel" >>"$FAKE/calls"
		command -p sleep 0.1
		rmdir "$FAKE/busy"
		[ -z "${FAKE_CANARY-}" ] || echo asked >>"$runs/canary.jsonl"
		manifest complete 0 ;;
	partial) manifest partial 0; exit 1 ;;
	capped) manifest partial 3; exit 1 ;;
	killed) manifest running 0; kill -KILL $$ ;;
	usage) [ -f "$run/run.json" ] || rm -r "$run"; exit 2 ;;
	nothing) rm -r "$run"; exit 3 ;;
	hang) manifest running 0; trap 'manifest partial 0; exit 130' TERM; while :; do command -p sleep 0.02; done ;;
	esac ;;
merge) run=$runs/merged; mkdir -p "$run"; manifest complete 0; echo "run  $run" ;;
report) for o in "${out[@]}"; do if [ "$o" = -.md ]; then echo '### verdict'; else echo >"$o"; fi; done ;;
gate) echo verdict; exit "$(cat "$FAKE/gate" 2>/dev/null || echo 0)" ;;
esac
`

// kit is a folder in which a kit runs.
type kit struct {
	t   *testing.T
	dir string
	env []string // later ones win
}

// newKit returns a kit with the given candidates of the built-in suite in cupel.yaml, and without
// the configuration, keys or credentials of the machine.
func newKit(t *testing.T, candidates ...string) *kit {
	t.Helper()
	for _, tool := range []string{"bash", "flock", "awk", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the kits need %s", tool)
		}
	}
	k := &kit{t: t, dir: t.TempDir()}
	k.env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	if len(candidates) > 0 {
		suite, err := builtin()
		require.NoError(t, err)
		text := "suite: builtin:counts\ncandidates:\n"
		for _, c := range suite.Candidates {
			for _, name := range candidates {
				if c.Name == name {
					text += "  - {name: " + c.Name + ", provider: " + c.Provider + ", model: " + c.Model + "}\n"
				}
			}
		}
		require.Equal(t, len(candidates)+2, strings.Count(text, "\n"))
		k.write("cupel.yaml", text)
	}
	return k
}

func (k *kit) write(name, text string) {
	k.t.Helper()
	path := filepath.Join(k.dir, name)
	require.NoError(k.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(k.t, os.WriteFile(path, []byte(text), 0o755))
}

func (k *kit) read(name string) string {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, name))
	require.NoError(k.t, err)
	return string(text)
}

// one returns the only path that matches a pattern below the kit's folder.
func (k *kit) one(pattern string) string {
	k.t.Helper()
	found, err := filepath.Glob(filepath.Join(k.dir, pattern))
	require.NoError(k.t, err)
	require.Len(k.t, found, 1, pattern)
	return found[0]
}

// bin adds a program at the front of PATH.
func (k *kit) bin(name, script string) {
	k.t.Helper()
	k.write("bin/"+name, script)
	if bin := filepath.Join(k.dir, "bin") + string(os.PathListSeparator); !strings.HasPrefix(k.env[1], "PATH="+bin) {
		k.env[1] = "PATH=" + bin + strings.TrimPrefix(k.env[1], "PATH=")
	}
}

// fake replaces cupel by fakeCupel with the given outcomes by shard.
func (k *kit) fake(gate int, plans map[int]string) {
	k.t.Helper()
	k.bin("cupel", fakeCupel)
	k.env = append(k.env, "FAKE="+filepath.Join(k.dir, "fake"))
	k.write("fake/gate", strconv.Itoa(gate))
	for shard, outcomes := range plans {
		k.write("fake/plan-"+strconv.Itoa(shard), strings.ReplaceAll(outcomes, " ", "\n")+"\n")
	}
}

// calls returns the number of calls of the fake cupel whose arguments contain a text.
func (k *kit) calls(part string) int {
	k.t.Helper()
	n := 0
	for line := range strings.Lines(k.read("fake/calls")) {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// cupel runs the program in the kit's folder.
func (k *kit) cupel(args ...string) string {
	k.t.Helper()
	cmd := exec.Command("cupel", args...)
	cmd.Dir, cmd.Env = k.dir, k.env
	out, err := cmd.CombinedOutput()
	require.NoError(k.t, err, "%s", out)
	return string(out)
}

// requireWhole checks that a run folder has the rows of a run without shards.
func (k *kit) requireWhole(run string) {
	k.t.Helper()
	got, err := manifest.Read(run)
	require.NoError(k.t, err)
	k.cupel("run", "--quiet", "--runs", "whole")
	want, err := manifest.Read(k.one("whole/*"))
	require.NoError(k.t, err)
	require.Equal(k.t, "complete", got.Status)
	require.Equal(k.t, want.Episodes, got.Episodes)
	require.Equal(k.t, want.LedgerDigest, got.LedgerDigest)
}

// requireJUnit checks that a file is JUnit XML with n tests.
func (k *kit) requireJUnit(path string, tests int) {
	k.t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(k.t, err)
	var suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Tests   int      `xml:"tests,attr"`
	}
	require.NoError(k.t, xml.Unmarshal(text, &suites))
	require.Equal(k.t, tests, suites.Tests)
}

// script returns a kit's text.
func (k *kit) script(name string) string {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(kits, name))
	require.NoError(k.t, err)
	return string(text)
}

// The commands and flags in the kits exist.
func TestKitsCallWhatExists(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	k := newKit(t)
	shown := 0
	for _, file := range []string{"ci/github.yml", "ci/nightly.sh", "ci.md"} {
		text, err := os.ReadFile(filepath.Join(kits, "..", file))
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^\s*(?:run: |\$ |)(?:cupel|"\$CUPEL") ([a-z][^|>&#\n]*)`).FindAllStringSubmatch(string(text), -1) {
			k.cupel(append(strings.Fields(strings.Replace(m[1], `"$TRIALS"`, "3", 1)), "--help")...)
			shown++
		}
	}
	require.Greater(t, shown, 12)
}
