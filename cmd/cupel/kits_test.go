package main

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/harness/ledger"
)

const kits = "../../docs/ci"

// fakeCupel stands in for cupel where only what the kits make of it matters. Its
// runs take their outcomes, one after the other, from the lines of $FAKE/plan-N,
// N being the shard.
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
	complete) manifest complete 0 ;;
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

// kit is a folder to run a kit in.
type kit struct {
	t   *testing.T
	dir string
	env []string // later ones win
}

// newKit has cupel.yaml with the given candidates of the built-in suite, and no
// configuration, keys or credentials of the machine.
func newKit(t *testing.T, candidates ...string) *kit {
	t.Helper()
	for _, tool := range []string{"bash", "flock", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the kits need %s", tool)
		}
	}
	k := &kit{t: t, dir: t.TempDir()}
	k.env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	if len(candidates) > 0 {
		suite, err := goldens.Load(counts.FS, "builtin:counts")
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

// bin puts a program before all others.
func (k *kit) bin(name, script string) {
	k.t.Helper()
	k.write("bin/"+name, script)
	if bin := filepath.Join(k.dir, "bin") + string(os.PathListSeparator); !strings.HasPrefix(k.env[1], "PATH="+bin) {
		k.env[1] = "PATH=" + bin + strings.TrimPrefix(k.env[1], "PATH=")
	}
}

// fake makes the kit meet a cupel that behaves as planned: outcomes by shard.
func (k *kit) fake(gate int, plans map[int]string) {
	k.t.Helper()
	k.bin("cupel", fakeCupel)
	k.env = append(k.env, "FAKE="+filepath.Join(k.dir, "fake"))
	k.write("fake/gate", strconv.Itoa(gate))
	for shard, outcomes := range plans {
		k.write("fake/plan-"+strconv.Itoa(shard), strings.ReplaceAll(outcomes, " ", "\n")+"\n")
	}
}

// calls returns how often the fake cupel was called with something in its arguments.
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

// real skips the test as long as cupel lacks what the kits call.
func (k *kit) real() {
	k.t.Helper()
	help, err := exec.Command("cupel", "run", "--help").Output()
	require.NoError(k.t, err)
	for _, flag := range []string{"--shard", "--resume", "--max-cost"} {
		if !strings.Contains(string(help), flag+" ") {
			k.t.Skipf("cupel run has no %s yet", flag)
		}
	}
	if exec.Command("cupel", "merge", "--help").Run() != nil {
		k.t.Skip("there is no cupel merge yet")
	}
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

// requireWhole asserts that a run folder has the rows that one run without shards has.
func (k *kit) requireWhole(run string) {
	k.t.Helper()
	got, err := ledger.ReadManifest(run)
	require.NoError(k.t, err)
	k.cupel("run", "--quiet", "--runs", "whole")
	want, err := ledger.ReadManifest(k.one("whole/*"))
	require.NoError(k.t, err)
	require.Equal(k.t, "complete", got.Status)
	require.Equal(k.t, want.Episodes, got.Episodes)
	require.Equal(k.t, want.LedgerDigest, got.LedgerDigest)
}

// requireJUnit asserts that a file is JUnit XML of so many tests.
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

// night starts nightly.sh in a session of its own.
func (k *kit) night(settings ...string) (*exec.Cmd, *strings.Builder) {
	k.t.Helper()
	script, err := filepath.Abs(filepath.Join(kits, "nightly.sh"))
	require.NoError(k.t, err)
	cmd := exec.Command("bash", script)
	cmd.Dir, cmd.Env = k.dir, append(append(k.env, "NIGHTLY_WAIT=0"), settings...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out := new(strings.Builder)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Minute
	require.NoError(k.t, cmd.Start())
	k.t.Cleanup(func() { killSession(cmd.Process.Pid) })
	return cmd, out
}

// nightly runs nightly.sh to its end.
func (k *kit) nightly(settings ...string) (code int, out string) {
	k.t.Helper()
	cmd, text := k.night(settings...)
	_ = cmd.Wait() // the code says it
	return cmd.ProcessState.ExitCode(), text.String()
}

// killSession kills every process of a session, as a machine that goes down does,
// until none is left.
func killSession(id int) {
	for range 200 {
		alive := false
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range stats {
			text, _ := os.ReadFile(path)
			_, rest, _ := strings.Cut(string(text), ") ") // state, parent, group, session
			if f := strings.Fields(rest); len(f) > 3 && f[3] == strconv.Itoa(id) && f[0] != "Z" {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
				_ = syscall.Kill(pid, syscall.SIGKILL)
				alive = true
			}
		}
		if !alive {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (k *kit) waitFor(pattern string) {
	k.t.Helper()
	require.Eventually(k.t, func() bool {
		found, _ := filepath.Glob(filepath.Join(k.dir, pattern))
		for _, f := range found {
			if info, err := os.Stat(f); err == nil && info.Size() > 0 {
				return true
			}
		}
		return false
	}, 20*time.Second, 10*time.Millisecond, pattern)
}

func TestNightlyScript(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gate     int
		plans    map[int]string
		settings []string
		code     int
		calls    map[string]int
		exit     string
	}{
		"accepted": {calls: map[string]int{"run --mode record --trials 3 --max-cost 5.0000 --runs nightly/night-": 1, "merge nightly": 0, "gate": 1}, exit: "0\n"},
		"rejected": {gate: 10, code: 10, exit: "10\n", calls: map[string]int{"gate": 1}},
		"shards": {
			settings: []string{"NIGHTLY_SHARDS=3", "NIGHTLY_MAX_COST=2", "NIGHTLY_ARGS=--mode live --candidate a*"},
			calls:    map[string]int{"run --mode live --candidate a* --shard 2/3 --max-cost 0.6666": 1, "run ": 3, "merge nightly": 1}, exit: "0\n",
		},
		"no cap":                {settings: []string{"NIGHTLY_MAX_COST=", "NIGHTLY_GATE=--candidate a,b"}, calls: map[string]int{"max-cost": 0, "--candidate a,b": 1}, exit: "0\n"},
		"resumed":               {plans: map[int]string{1: "partial partial complete"}, calls: map[string]int{"run --mode": 1, "run --resume": 2}, exit: "0\n"},
		"killed by the machine": {plans: map[int]string{1: "killed"}, calls: map[string]int{"run --resume": 1}, exit: "0\n"},
		"retries run out": {
			gate: 11, code: 11, exit: "11\n", settings: []string{"NIGHTLY_RETRIES=2"},
			plans: map[int]string{1: "partial partial partial complete"}, calls: map[string]int{"run --resume": 2, "gate": 1},
		},
		"capped":           {gate: 11, code: 11, exit: "11\n", plans: map[int]string{1: "capped complete"}, calls: map[string]int{"--resume": 0, "gate": 1}},
		"wrong settings":   {code: 2, exit: "2\n", plans: map[int]string{1: "usage"}, calls: map[string]int{"run": 1, "gate": 0}},
		"missing cassette": {code: 3, exit: "3\n", settings: []string{"NIGHTLY_SHARDS=2"}, plans: map[int]string{2: "nothing"}, calls: map[string]int{"merge nightly": 0, "gate": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			k.fake(c.gate, c.plans)
			code, out := k.nightly(c.settings...)
			require.Equal(t, c.code, code, out)
			for part, n := range c.calls {
				require.Equal(t, n, k.calls(part), "%s in:\n%s", part, k.read("fake/calls"))
			}
			exit, err := os.ReadFile(k.one("nightly/night-*/exit"))
			require.NoError(t, err)
			require.Equal(t, c.exit, string(exit))
		})
	}
}

func TestNightlyScriptRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		setting, says string
		code          int
	}{
		"no shards":   {"NIGHTLY_SHARDS=0", "NIGHTLY_SHARDS=0: must be a whole number", 2},
		"no number":   {"NIGHTLY_KEEP=1;x", "NIGHTLY_KEEP=1;x: must be a whole number", 2},
		"no key file": {"NIGHTLY_KEYS=./none.env", "none.env", 1},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.fake(0, nil)
			code, out := k.nightly(c.setting)
			require.Equal(t, c.code, code)
			require.Contains(t, out, c.says)
			require.NoFileExists(t, filepath.Join(k.dir, "fake", "calls"))
		})
	}
}

// Interrupted or killed with all its processes, it goes on where it was.
func TestNightlyScriptGoesOn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("finds processes in /proc")
	}
	for name, c := range map[string]struct {
		end  func(pid int)
		code int
	}{
		"interrupted": {func(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }, 130},
		"killed":      {killSession, -1},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.fake(0, map[int]string{1: "complete", 2: "hang"})
			cmd, out := k.night("NIGHTLY_SHARDS=2")
			k.waitFor("nightly/night-*/shard-1/run-1/run.json")
			k.waitFor("nightly/night-*/shard-2/run-2/run.json")
			code, busy := k.nightly()
			require.Equal(t, 1, code, busy)
			require.Contains(t, busy, "is in use by another")
			c.end(cmd.Process.Pid)
			_ = cmd.Wait() // the code says it
			require.Equal(t, c.code, cmd.ProcessState.ExitCode(), out)
			require.Equal(t, 0, k.calls("gate"))

			code, again := k.nightly("NIGHTLY_SHARDS=5", "NIGHTLY_KEYS="+os.DevNull)
			require.Equal(t, 0, code, again)
			require.Contains(t, again, "goes on with nightly/night-")
			require.Equal(t, 2, k.calls("run --mode"), "the shards it was begun with, once each")
			require.Equal(t, 1, k.calls("run --resume nightly/night-"))
			require.Equal(t, 1, k.calls("merge nightly"))
			k.one("nightly/night-*")
		})
	}
}

// A night that cannot be resumed, because the suite has changed, keeps nobody
// from the next one; what a gate refuses is not paid for twice.
func TestNightlyScriptStartsAnew(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.fake(2, map[int]string{1: "usage"})
	k.write("nightly/night-20260101T000000Z/shards", "1\n")
	k.write("nightly/night-20260101T000000Z/shard-1/run-1/run.json", "{\n  \"status\": \"partial\"\n}\n")
	k.write("nightly/night-20260101T000000Z/shard-1/run-1/shard", "1\n")
	code, out := k.nightly()
	require.Equal(t, 2, code, out)
	require.Contains(t, out, "night-20260101T000000Z cannot be resumed")
	require.Equal(t, 1, k.calls("run --resume"))
	require.Equal(t, 1, k.calls("run --mode"))
	require.Equal(t, "20\n", k.read("nightly/night-20260101T000000Z/exit"))

	k.write("fake/gate", "0")
	k.write("keys.env", "CANARY_KEY=secret\n")
	k.bin("cupel", strings.Replace(fakeCupel, "verb=$1", `printf '%s' "$CANARY_KEY" >"$FAKE/key"; verb=$1`, 1))
	code, out = k.nightly("NIGHTLY_KEEP=1", "NIGHTLY_KEYS=./keys.env")
	require.Equal(t, 0, code, out)
	require.Equal(t, "secret", k.read("fake/key"))
	exit, err := os.ReadFile(k.one("nightly/night-*/exit"))
	require.NoError(t, err, "the older nights are gone")
	require.Equal(t, "0\n", string(exit))
}

// The same with cupel itself.
func TestNightlyScriptRunsCupel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		candidate, shards string
		code              int
	}{
		"accepted": {"strong", "3", 0}, "rejected": {"weak", "3", 10}, "one process": {"strong", "1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, c.candidate)
			k.real()
			code, out := k.nightly("NIGHTLY_ARGS=", "NIGHTLY_MAX_COST=", "NIGHTLY_SHARDS="+c.shards)
			require.Equal(t, c.code, code, out)
			require.Contains(t, out, c.candidate)
			pattern := "nightly/night-*/merged/*"
			if c.shards == "1" {
				pattern = "nightly/night-*/shard-1/*"
			}
			k.requireWhole(k.one(pattern))
			k.requireJUnit(k.one("nightly/night-*/junit.xml"), 69)
		})
	}
}

func TestNightlyScriptResumesCupel(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("finds processes in /proc")
	}
	for name, end := range map[string]func(pid int){
		"interrupted": func(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) },
		"killed":      killSession,
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, "strong")
			k.real()
			settings := []string{"NIGHTLY_ARGS=--replay-speed 10 --concurrency 2", "NIGHTLY_MAX_COST=", "NIGHTLY_SHARDS=2"}
			cmd, out := k.night(settings...)
			k.waitFor("nightly/night-*/shard-1/*/journal/episodes.log")
			end(cmd.Process.Pid)
			_ = cmd.Wait() // the code says it
			require.NotZero(t, cmd.ProcessState.ExitCode(), out)
			code, again := k.nightly(settings...)
			require.Equal(t, 0, code, again)
			require.Contains(t, again, "goes on with")
			k.requireWhole(k.one("nightly/night-*/merged/*"))
		})
	}
}

// What the kits show of the command line exists.
func TestKitsCallWhatExists(t *testing.T) {
	k := newKit(t)
	k.real()
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

func TestCrontab(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(kits, "crontab"))
	require.NoError(t, err)
	entries := 0
	for line := range strings.Lines(string(text)) {
		if line[0] < '0' || line[0] > '9' {
			continue
		}
		entries++
		fields := strings.SplitN(line, " ", 6)
		require.NotContains(t, fields[5], "%", "cron makes a line break of it")
		k := newKit(t)
		k.fake(10, nil)
		k.bin("nightly.sh", k.script("nightly.sh"))
		command := strings.NewReplacer("/srv/evals", k.dir, "./nightly.sh", "nightly.sh").Replace(fields[5])
		cmd := exec.Command("bash", "-c", command)
		cmd.Env = append(k.env, "NIGHTLY_WAIT=0")
		out, err := cmd.CombinedOutput()
		require.Equal(t, 10, cmd.ProcessState.ExitCode(), "%v: %s", err, out)
		require.Contains(t, string(out), "verdict", "what is mailed")
		require.Contains(t, k.read("nightly.log"), "exit code 10")

		k.write("fake/gate", "0")
		cmd = exec.Command("bash", "-c", command)
		cmd.Env = append(k.env, "NIGHTLY_WAIT=0")
		out, err = cmd.CombinedOutput()
		require.NoError(t, err)
		require.Empty(t, string(out), "no mail")
	}
	require.Equal(t, 1, entries)
}

// script returns a kit's text.
func (k *kit) script(name string) string {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(kits, name))
	require.NoError(k.t, err)
	return string(text)
}
