// Package commandline is what all commands have in common for the person who types them: how
// many arguments they take, how usage errors are worded, groups in the help, completion.
package commandline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/internal/spell"
)

// Group is a heading of the help with its commands.
type Group struct {
	Title    string
	Commands []*cobra.Command
}

// Prepare adds the groups to root and gives every command below it its check of arguments,
// which follows from its Use line, usage errors with an example, and completion: of
// positional arguments by their name in the Use line, of flags by flagKinds. Sources are by
// kind, such as RUN. elsewhere returns a hint at the program that has an unknown verb or --flag,
// or "". Call it once, when root has its own settings.
func Prepare(root *cobra.Command, groups []Group, sources map[string]Source, elsewhere func(name string) string) {
	for _, g := range groups {
		if len(g.Commands) == 0 {
			continue
		}
		root.AddGroup(&cobra.Group{ID: g.Title, Title: g.Title + ":"})
		for _, c := range g.Commands {
			c.GroupID = g.Title
			root.AddCommand(c)
		}
	}
	last := groups[len(groups)-1].Title
	root.SetHelpCommandGroupID(last)
	root.SetCompletionCommandGroupID(last)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return exit.Usage(flagError(c, err, elsewhere)) })
	each(root, func(c *cobra.Command) {
		c.Args = func(c *cobra.Command, args []string) error { return exit.Usage(checkArgs(c, args, elsewhere)) }
		if c.HasSubCommands() && c.RunE == nil {
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
		complete(c, sources)
	})
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		describeCompletion(c)
	}
}

// each calls do with a command and all below it.
func each(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		if sub.Name() != "help" {
			each(sub, do)
		}
	}
}

// argument is a positional argument of a Use line: NAME, [NAME], NAME… or [NAME…].
type argument struct {
	name           string
	optional, many bool
}

// arguments reads the Use line of a command. What follows a flag in it is that flag's.
func arguments(c *cobra.Command) (list []argument) {
	fields := strings.Fields(c.Use)[1:]
	for i := 0; i < len(fields); i++ {
		if strings.HasPrefix(fields[i], "--") {
			i++
			continue
		}
		name, optional := strings.CutPrefix(strings.TrimSuffix(fields[i], "]"), "[")
		name, many := strings.CutSuffix(name, "…")
		list = append(list, argument{name, optional, many})
	}
	return list
}

// checkArgs compares arguments with the Use line.
func checkArgs(c *cobra.Command, args []string, elsewhere func(string) string) error {
	list := arguments(c)
	if c.HasSubCommands() && len(args) > 0 {
		var names []string
		for _, sub := range c.Commands() {
			names = append(names, sub.Name())
		}
		return fmt.Errorf("unknown command %q; %ssee %s --help", strings.TrimSpace(verb(c)+" "+args[0]), cmp.Or(elsewhere(args[0]), guess(args[0], names)), c.CommandPath())
	}
	least, most := 0, 0
	var names []string
	for _, a := range list {
		if !a.optional {
			least++
			names = append(names, a.name)
		}
		if most++; a.many {
			most = 1 << 20
		}
	}
	switch n := len(args); {
	case n < least:
		return fmt.Errorf("%s: missing %s; for example: %s", verb(c), strings.Join(names[n:], " and "), example(c, ""))
	case n > most && most == 0:
		return fmt.Errorf("%s takes no arguments: remove %q; for example: %s", verb(c), args[0], example(c, ""))
	case n > most:
		return fmt.Errorf("%s: unexpected argument %q after %s; for example: %s", verb(c), args[most], list[most-1].name, example(c, ""))
	}
	return nil
}

// verb is a command without the name of the program, which errors begin with.
func verb(c *cobra.Command) string {
	_, verb, _ := strings.Cut(c.CommandPath(), " ")
	return verb
}

// flagError says what is wrong with a flag, in the words of the program.
func flagError(c *cobra.Command, err error, elsewhere func(string) string) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		if unknown.GetSpecifiedShortnames() != "" {
			return fmt.Errorf("unknown flag -%s; see %s --help", unknown.GetSpecifiedName(), c.CommandPath())
		}
		name, names := "--"+unknown.GetSpecifiedName(), []string(nil)
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return fmt.Errorf("unknown flag %s; %ssee %s --help", name, cmp.Or(elsewhere(name), guess(name, names)), c.CommandPath())
	case errors.As(err, &missing):
		return fmt.Errorf("--%s needs a value; for example: %s", missing.GetFlag().Name, example(c, missing.GetFlag().Name))
	case errors.As(err, &bad):
		wrong := bad.Unwrap().Error()
		if kind := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false"}[bad.GetFlag().Value.Type()]; kind != "" {
			wrong = "not " + kind
		}
		return fmt.Errorf("--%s %q: %s; for example: %s", bad.GetFlag().Name, bad.GetValue(), wrong, example(c, bad.GetFlag().Name))
	}
	return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
}

// example is the first example of a command, with the flag if one has it; the help where
// there is none.
func example(c *cobra.Command, flag string) string {
	first := c.CommandPath() + " --help"
	for i, line := range strings.Split(c.Example, "\n") {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
		if line != "" && i == 0 {
			first = line
		}
		if flag != "" && strings.Contains(line+" ", " --"+flag+" ") {
			return line
		}
	}
	if flag != "" && c.Flags().Lookup(flag) != nil {
		return c.CommandPath() + " --help"
	}
	return first
}

// guess is a hint at the name that was meant, or "".
func guess(word string, names []string) string {
	if near := spell.Nearest(word, names); near != "" {
		return fmt.Sprintf("did you mean %s? ", near)
	}
	return ""
}

// Interrupts closes drain at the first Ctrl-C or SIGTERM, which it answers with says, and cancels
// the context at the second.
func Interrupts(parent context.Context, stderr io.Writer, says string) (ctx context.Context, drain <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	first, signals := make(chan struct{}), make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		_, _ = fmt.Fprintln(stderr, says)
		close(first)
		<-signals
		cancel()
	}()
	return ctx, first, sync.OnceFunc(func() { signal.Stop(signals); close(signals); cancel() })
}
