package commandline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/regular"
)

// Source lists the values that an argument or a flag may have, given what is typed of it
// and the arguments before it: each a value, or a value, a tab and what it is. It is silent
// about errors.
type Source func(c *cobra.Command, args []string, typed string) []string

// flagKinds are the kinds of values of flags, by name.
var flagKinds = map[string]string{
	"suite": "SUITE", "task": "TASK", "candidate": "CANDIDATE", "tag": "TAG", "mode": "MODE", "changed": "CHANGED",
	"baseline": "RUN", "failed-in": "RUN", "changed-since": "RUN", "resume": "RUN",
}

// kinds are those of positional arguments of other names.
var kinds = map[string]string{"BASELINE": "RUN", "NEW": "RUN", "RUN|DIR": "RUN"}

// complete gives a command's arguments and flags the sources of their kinds. Others are
// completed as files.
func complete(c *cobra.Command, sources map[string]Source) {
	list := arguments(c)
	if !c.HasSubCommands() {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			at := min(len(args), len(list)-1)
			if at < 0 || len(args) > at && !slices.ContainsFunc(list, func(a argument) bool { return a.many }) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			kind := list[at].name
			if at > 0 && list[at-1].many { // there may be more of the one before
				kind = list[at-1].name
			}
			return values(sources, cmp.Or(kinds[kind], kind), c, args, typed)
		}
	}
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if kind := flagKinds[f.Name]; kind != "" {
			_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
				return values(sources, kind, c, args, typed)
			})
		}
	})
}

func values(sources map[string]Source, kind string, c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	source := sources[kind]
	if source == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	list := slices.DeleteFunc(source(c, args, typed), func(v string) bool { return !strings.HasPrefix(v, typed) })
	if list == nil && (kind == "RUN" || kind == "SUITE") { // which may be folders
		return nil, cobra.ShellCompDirectiveDefault
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// maxRuns bounds how many runs are offered, those written last.
const maxRuns = 300

// runIDs lists the runs of a folder whose ids begin with prefix, the last one first, with the
// day and the headline of the report.
func runIDs(dir, prefix string) (list []string) {
	runs, _ := manifest.Newest(dir, prefix, maxRuns, math.MaxInt64)
	for _, r := range runs {
		day := r.Changed.Format("2006-01-02 15:04 ")
		list = append(list, filepath.Base(r.Dir)+"\t"+strings.TrimSpace(day+headline(filepath.Join(r.Dir, "report"))))
	}
	return list
}

// headline reads that of a report from the beginning of report.json; "" without one.
func headline(dir string) string {
	f, err := regular.Open(filepath.Join(dir, "report.json"))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, _ := io.ReadAll(io.LimitReader(f, 1024))
	for line := range bytes.Lines(text) {
		value, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(`"headline": `))
		var s string
		if ok && json.Unmarshal(bytes.TrimSuffix(value, []byte(",")), &s) == nil {
			return s
		}
	}
	return ""
}

// describeCompletion replaces cobra's texts about completion by short ones.
func describeCompletion(c *cobra.Command) {
	c.Short = "Print the completion script of a shell"
	c.Long = "Prints a script that completes commands, flags, suites, tasks, candidates and runs in\na shell. Load it once for this session, or in the shell's start file for all."
	for name, example := range map[string]string{
		"bash":       "  source <(cupel completion bash)\n  echo 'source <(cupel completion bash)' >> ~/.bashrc",
		"zsh":        "  source <(cupel completion zsh)\n  cupel completion zsh > \"${fpath[1]}/_cupel\"",
		"fish":       "  cupel completion fish | source\n  cupel completion fish > ~/.config/fish/completions/cupel.fish",
		"powershell": "  cupel completion powershell | Out-String | Invoke-Expression",
	} {
		if sub, _, err := c.Find([]string{name}); err == nil {
			sub.Short, sub.Long, sub.Example = "Print the completion script of "+name, "", strings.ReplaceAll(example, "cupel", c.Root().Name())
		}
	}
}
