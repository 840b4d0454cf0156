package prove_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness/prove"
	"github.com/cupel-eval/cupel/internal/testkit"
)

const mailProcess = `import json, sys
open("starts", "a").write(".")
sent = []
for line in sys.stdin:
    request = json.loads(line)
    params, result = request.get("params") or {}, None
    if request["method"] == "reset":
        sent = []  # LEAK
    elif request["method"] == "state":
        result = {"sent": sent}
    elif params["name"] == "read":
        result = "Lunch is at one." if params["arguments"]["id"] == "m1" else "Dinner is at eight."
    else:
        sent.append(params["arguments"]["to"])
        result = {"sent": True}
    print(json.dumps({"id": request["id"], "result": result}), flush=True)
`

// Mutants share processes, and a proof comes to the same if they cannot: where reset keeps what an
// episode has changed.
func TestMutantsShareProcesses(t *testing.T) {
	testkit.Slow(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this machine")
	}
	proved := func(program string) (r prove.Result, starts int) {
		dir := t.TempDir()
		suite := strings.NewReplacer(`, rules: [{returns: {body: "{{state.mails[args.id]}}"}}]`, "", `, rules: [{append: {sent: "{{args.to}}"}, returns: {ok: true}}]`, ", write: true",
			"state: {mails: {m1: Lunch is at one., m2: Dinner is at eight.}, sent: []}", "kind: process, process: {command: [python3, world.py], timeout: 60s}", "{tool: read, field: note}", "{tool: read}",
			"calls: [read]}}", "calls: [read], state: [{path: sent, count: 0}]}}").Replace(mailSuite)
		for name, text := range map[string]string{"suite.yaml": suite, "playbook.yaml": mailBook, "world.py": program} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		s, err := load.Suite(os.DirFS(dir), dir, nil)
		require.NoError(t, err)
		o := mailOptions(t, mailSuite)
		if o.Book, err = load.Playbook(s); err == nil {
			o.Run.Suite = s
			r, err = prove.Suite(t.Context(), o)
		}
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(dir, "starts"))
		require.NoError(t, err)
		return r, len(text)
	}
	shared, few := proved(mailProcess)
	require.Empty(t, shared.Failures(0.5))
	alone, many := proved(strings.Replace(mailProcess, "sent = []  # LEAK", "pass", 1))
	require.Equal(t, shared, alone)
	require.Less(t, few, many)
}
