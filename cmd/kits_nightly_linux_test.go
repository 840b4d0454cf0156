package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// night starts nightly.sh in a new process session.
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

// killSession kills every process of a session, like a crash of the machine, until none is left. The
// first thread of a process may be a zombie while others are ending, which still have files open,
// and locks.
func killSession(id int) {
	for range 200 {
		alive := false
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range stats {
			text, _ := os.ReadFile(path)
			_, rest, _ := strings.Cut(string(text), ") ") // state, parent, group, session
			if f := strings.Fields(rest); len(f) > 3 && f[3] == strconv.Itoa(id) {
				if threads, _ := os.ReadDir(filepath.Join(filepath.Dir(path), "task")); f[0] == "Z" && len(threads) < 2 {
					continue
				}
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
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
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
		"turns":                 {settings: []string{"NIGHTLY_SHARDS=4"}, calls: map[string]int{"run --mode record": 4, "in parallel": 0}, exit: "0\n"},
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

// The canary history of the first shard is passed on to the next night.
func TestNightlyKeepsTheCanaryHistory(t *testing.T) {
	k := newKit(t)
	k.fake(0, nil)
	for night := 1; night <= 2; night++ {
		code, out := k.nightly("FAKE_CANARY=1", "NIGHTLY_SHARDS=2")
		require.Zero(t, code, out)
		require.Equal(t, strings.Repeat("asked\n", night), k.read("nightly/canary.jsonl"))
	}
}

// A night is compared with the last accepted one, if there is one.
func TestNightlyScriptCompares(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	t.Parallel()
	k := newKit(t)
	k.fake(0, nil)
	night := func(at, exit, run string) {
		k.write("nightly/night-"+at+"/exit", exit)
		k.write("nightly/night-"+at+"/shards", "1\n")
		k.write("nightly/night-"+at+"/"+run+"/run.json", "{}")
	}
	night("20260103T000000Z", "10\n", "shard-1/c") // rejected: no baseline
	code, out := k.nightly("NIGHTLY_BASELINE=last")
	require.Equal(t, 0, code, out)
	require.Equal(t, 0, k.calls("--baseline"), "nobody was accepted yet")
	require.NoError(t, os.RemoveAll(filepath.Join(k.dir, "nightly")))

	night("20260101T000000Z", "0\n", "shard-1/a")
	night("20260102T000000Z", "0\n", "merged/b")
	night("20260103T000000Z", "10\n", "shard-1/c")
	code, out = k.nightly("NIGHTLY_BASELINE=last", "NIGHTLY_GATE=--changed skip")
	require.Equal(t, 0, code, out)
	require.Equal(t, 1, k.calls("--changed skip --baseline nightly/night-20260102T000000Z/merged/b"), k.read("fake/calls"))

	code, out = k.nightly("NIGHTLY_BASELINE=kept/run")
	require.Equal(t, 0, code, out)
	require.Equal(t, 1, k.calls("--baseline kept/run"))
}

func TestNightlyScriptRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
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

// After an interruption, or a kill of all its processes, the script resumes.
func TestNightlyScriptResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	t.Parallel()
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
			cmd, out := k.night("NIGHTLY_SHARDS=2", "NIGHTLY_ARGS=--mode live")
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
			require.Contains(t, again, "resumes nightly/night-")
			require.Equal(t, 2, k.calls("run --mode"), "the shards it was started with, once each")
			require.Equal(t, 1, k.calls("run --resume nightly/night-"))
			require.Equal(t, 1, k.calls("merge nightly"))
			k.one("nightly/night-*")
		})
	}
}

// A night that cannot be resumed because the suite has changed does not prevent the next one. A
// night that the gate rejects is not repeated.
func TestNightlyScriptStartsAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
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

// The script works with the real cupel.
func TestNightlyScriptRunsCupel(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	for name, c := range map[string]struct {
		candidate, shards string
		code              int
	}{
		"accepted": {"strong", "3", 0}, "rejected": {"weak", "2", 10}, "one process": {"strong", "1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, c.candidate)
			code, out := k.nightly("NIGHTLY_ARGS=", "NIGHTLY_MAX_COST=", "NIGHTLY_SHARDS="+c.shards)
			require.Equal(t, c.code, code, out)
			require.Equal(t, 1, len(regexp.MustCompile(`(?m)^ [✓✗?] `+c.candidate+`\b`).FindAllString(out, -1)), "one verdict in:\n%s", out)
			pattern := "nightly/night-*/merged/*"
			if c.shards == "1" {
				pattern = "nightly/night-*/shard-1/*"
			}
			k.requireWhole(k.one(pattern))
			k.requireJUnit(k.one("nightly/night-*/junit.xml"), len(judged(t)))
		})
	}
}

func TestNightlyScriptResumesCupel(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	for name, end := range map[string]func(pid int){
		"interrupted": func(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) },
		"killed":      killSession,
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, "strong")
			settings := []string{"NIGHTLY_ARGS=--replay-speed 30 --concurrency 2", "NIGHTLY_MAX_COST=", "NIGHTLY_SHARDS=2"}
			cmd, out := k.night(settings...)
			k.waitFor("nightly/night-*/shard-1.log") // the first tenth is complete; a replay journals in blocks
			end(cmd.Process.Pid)
			_ = cmd.Wait() // the code says it
			require.NotZero(t, cmd.ProcessState.ExitCode(), out)
			code, again := k.nightly(settings...)
			require.Equal(t, 0, code, again)
			require.Contains(t, again, "resumes")
			k.requireWhole(k.one("nightly/night-*/merged/*"))
		})
	}
}

// A run that reaches its cap is not retried and never passes.
func TestNightlyScriptCapsCupel(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	k := newKit(t)
	k.cupel("init")
	code, out := k.nightly("NIGHTLY_ARGS=--mode record", "NIGHTLY_MAX_COST=0.0001")
	require.Equal(t, 11, code, out)
	m, err := manifest.Read(k.one("nightly/night-*/shard-1/*"))
	require.NoError(t, err)
	require.Positive(t, m.Outcomes.BudgetStops)
	require.NotContains(t, k.read("nightly/"+filepath.Base(k.one("nightly/night-*"))+"/shard-1.log"), "again in")
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
