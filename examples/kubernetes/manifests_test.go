//go:build unix

// Package kubernetes_test checks the manifests of this folder: it decodes them strictly into
// the types of Kubernetes, and executes the commands of the Jobs.
package kubernetes_test

import (
	"bytes"
	"errors"
	"io"
	"net"
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
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// kinds has a constructor for each kind of object that the manifests contain.
var kinds = map[string]func() any{
	"v1/PersistentVolumeClaim":           func() any { return &corev1.PersistentVolumeClaim{} },
	"v1/Service":                         func() any { return &corev1.Service{} },
	"batch/v1/Job":                       func() any { return &batchv1.Job{} },
	"apps/v1/Deployment":                 func() any { return &appsv1.Deployment{} },
	"apps/v1/StatefulSet":                func() any { return &appsv1.StatefulSet{} },
	"networking.k8s.io/v1/NetworkPolicy": func() any { return &networkingv1.NetworkPolicy{} },
}

// decode returns the objects of a file by kind and name.
func decode(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	objects := map[string]any{}
	for _, document := range regexp.MustCompile(`(?m)^---\n`).Split(string(text), -1) {
		var head struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		require.NoError(t, yaml.Unmarshal([]byte(document), &head), file)
		build := kinds[head.APIVersion+"/"+head.Kind]
		require.NotNil(t, build, "%s: kind %s/%s", file, head.APIVersion, head.Kind)
		object := build()
		require.NoError(t, decodeStrictly([]byte(document), object), "%s: %s %s", file, head.Kind, head.Metadata.Name)
		objects[head.Kind+"/"+head.Metadata.Name] = object
	}
	return objects
}

// decodeStrictly fails on unknown and repeated fields, and on names in other case.
func decodeStrictly(document []byte, object any) error {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(text, object)
	return errors.Join(append(strict, err)...)
}

// podSpec is what an object says of its pods, or nil if it has none.
func podSpec(object any) *corev1.PodSpec {
	switch o := object.(type) {
	case *batchv1.Job:
		return &o.Spec.Template.Spec
	case *appsv1.Deployment:
		return &o.Spec.Template.Spec
	case *appsv1.StatefulSet:
		return &o.Spec.Template.Spec
	}
	return nil
}

func TestManifests(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		for name, object := range decode(t, file) {
			pod := podSpec(object)
			if pod == nil {
				continue
			}
			require.True(t, *pod.SecurityContext.RunAsNonRoot, name)
			require.False(t, *pod.AutomountServiceAccountToken, name)
			volumes := map[string]bool{}
			if set, ok := object.(*appsv1.StatefulSet); ok {
				for _, c := range set.Spec.VolumeClaimTemplates {
					volumes[c.Name] = true
				}
			}
			for _, v := range pod.Volumes {
				volumes[v.Name] = true
			}
			for _, c := range pod.Containers {
				require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, name)
				require.False(t, *c.SecurityContext.AllowPrivilegeEscalation, name)
				require.Contains(t, c.Resources.Limits, corev1.ResourceMemory, name)
				for _, m := range c.VolumeMounts {
					require.True(t, volumes[m.Name], "%s: volume %s", name, m.Name)
				}
				for _, e := range c.Env {
					require.NotRegexp(t, `(?i)key|secret|password|token`, e.Name+e.Value, "%s: credentials come from a Secret", name)
				}
			}
		}
	}
}

// TestWrongManifestsAreFound shows that decoding is strict.
func TestWrongManifestsAreFound(t *testing.T) {
	text, err := os.ReadFile("shards.yaml")
	require.NoError(t, err)
	for old, replacement := range map[string]string{
		"completionMode: Indexed": "completionmode: Indexed",
		"parallelism: 4":          "parallelism: four",
		"restartPolicy: Never":    "restartPolicy: Never\n      restartPolicy: Never",
	} {
		require.Contains(t, string(text), old)
		document := regexp.MustCompile(`(?m)^---\n`).Split(string(text), -1)[1]
		require.NoError(t, decodeStrictly([]byte(document), &batchv1.Job{}))
		wrong := bytes.Replace([]byte(document), []byte(old), []byte(replacement), 1)
		require.Error(t, decodeStrictly(wrong, &batchv1.Job{}), replacement)
	}
}

// build builds a program of cupel and returns a PATH with it.
func build(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, name), "./cmd/"+name)
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir + ":" + os.Getenv("PATH")
}

// command is the command of a container in dir, with other values for some of its variables.
func command(c corev1.Container, dir, path string, env map[string]string) *exec.Cmd {
	line := append(append([]string{}, c.Command...), c.Args...)
	program := filepath.Join(strings.Split(path, ":")[0], line[0])
	if _, err := os.Stat(program); err != nil {
		program = line[0]
	}
	cmd := exec.Command(program, line[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + path, "HOME=" + dir}
	for _, e := range c.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// execute runs the command of a container to its end.
func execute(t *testing.T, c corev1.Container, dir, path string, env map[string]string) (code int) {
	t.Helper()
	cmd := command(c, dir, path, env)
	out, err := cmd.CombinedOutput()
	t.Logf("%s\n%s", c.Args, out)
	if err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	return cmd.ProcessState.ExitCode()
}

// digest is the digest of the ledger of the one run in folders of this pattern.
func digest(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pattern, "run.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	digest := regexp.MustCompile(`"ledger_digest": "[0-9a-z:]+"`).Find(text)
	require.NotEmpty(t, digest)
	return string(digest)
}

// requireOneProcess compares the digest of a run with that of one process.
func requireOneProcess(t *testing.T, program, dir, path, got string) {
	t.Helper()
	one := corev1.Container{Command: []string{"sh", "-c"}, Args: []string{program + " run --candidate strong --quiet --runs one"}}
	require.Zero(t, execute(t, one, dir, path, nil))
	require.Equal(t, digest(t, filepath.Join(dir, "one", "*")), got)
}

// TestShards executes the Jobs on the cassettes of a built-in suite. The merged shards must be
// the run of one process.
func TestShards(t *testing.T) {
	path, dir := build(t, "cupel"), t.TempDir()
	objects := decode(t, "shards.yaml")
	shards := objects["Job/cupel-shards"].(*batchv1.Job)
	shard := podSpec(shards).Containers[0]
	require.Equal(t, *shards.Spec.Completions, *shards.Spec.Parallelism)
	env := map[string]string{"RUNS": filepath.Join(dir, "night"), "CUPEL_ARGS": "--candidate strong --quiet", "GATE_ARGS": "--candidate strong"}
	for i := range int(*shards.Spec.Completions) {
		env["JOB_COMPLETION_INDEX"] = strconv.Itoa(i)
		require.Zero(t, execute(t, shard, dir, path, env))
		require.Zero(t, execute(t, shard, dir, path, env), "a pod that is started again finds its run complete")
	}
	require.Zero(t, execute(t, podSpec(objects["Job/cupel-verdict"]).Containers[0], dir, path, env))
	requireOneProcess(t, "cupel", dir, path, digest(t, filepath.Join(dir, "night", "merged", "*")))
}

// TestWorkers executes the queue, two workers and the run, over TLS, on the cassettes of a
// built-in suite. The run must be that of one process.
func TestWorkers(t *testing.T) {
	path, dir := build(t, "cupel-fleet"), t.TempDir()
	certificates(t, dir, "cupel-queue", "127.0.0.1")
	objects := decode(t, "workers.yaml")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	env := map[string]string{
		"CUPEL_QUEUE_USER": "fleet", "CUPEL_QUEUE_PASSWORD": "p", "QUEUE": "tls://" + address, "CA": filepath.Join(dir, "ca.crt"),
		"RUNS": filepath.Join(dir, "night"), "CUPEL_ARGS": "--candidate strong --quiet", "GATE_ARGS": "--candidate strong",
	}
	// start runs a container in the background, with its folders below dir.
	start := func(object, name string) {
		c := podSpec(objects[object]).Containers[0]
		c.Args = append([]string{}, c.Args...)
		for i, arg := range c.Args {
			arg = strings.NewReplacer("0.0.0.0:4222", address, "cupel-queue:4222", address).Replace(arg)
			for _, folder := range []string{"/queue", "/worker"} {
				if arg == folder {
					arg = filepath.Join(dir, name)
				}
			}
			c.Args[i] = strings.Replace(arg, "/tls/", dir+"/", 1)
		}
		cmd := command(c, dir, path, env)
		cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			require.NoError(t, cmd.Wait(), "%s ends in order", name)
		})
	}
	start("StatefulSet/cupel-queue", "queue")
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	}, time.Minute, 50*time.Millisecond)
	start("Deployment/cupel-workers", "worker-1")
	start("Deployment/cupel-workers", "worker-2")
	run := podSpec(objects["Job/cupel-fleet-run"]).Containers[0]
	require.Zero(t, execute(t, run, dir, path, env))
	got := digest(t, filepath.Join(dir, "night", "*"))
	require.Zero(t, execute(t, run, dir, path, env), "a pod that is started again finds its run complete")
	requireOneProcess(t, "cupel-fleet", dir, path, got)
}
