package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/judge"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/internal/regular"
)

func newContract(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "contract",
		Short: "Validate model outputs against the contract",
	}
	cmd.AddCommand(newContractCheck(p), newContractSchema(p))
	return cmd
}

func newContractCheck(p *process) *cobra.Command {
	var tools string
	var lines bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Validate model outputs from standard input",
		Long: `Reads one raw model output from standard input and prints the result as JSON: whether it
is valid, its violations and warnings, and what one local repair would make of it.

With --jsonl, every line of standard input is a JSON value: the raw output as a string,
or an object {"output": "…", "id": …, "finish": "length"}. The result of each line
repeats its id and line number; a finish of "length" means that the token limit cut the
output off.

Without --tools no tool is available, so every tool call names an unknown tool. An
output or line may have at most 4 MiB. Exits with 0 if every output is valid, with 10 if
one is not, and with 2 if the input or the tools cannot be read.
Details: docs/contract.md.`,
		Example: `  echo '{"control":{"done":true}}' | cupel contract check
  cupel contract check --tools builtin:counts < output.txt
  jq -c '{id: .action_id, output: .raw}' log.jsonl | cupel contract check --jsonl --tools tools.yaml`,
		RunE: func(*cobra.Command, []string) error {
			specs, err := p.loadTools(tools)
			if err != nil {
				return err
			}
			set, err := tool.NewSet(specs)
			if err != nil {
				return exit.Usage(err)
			}
			if lines {
				valid, err := judge.Lines(p.stdin, p.json, p.stderr, set)
				return errors.Join(err, checkOutcome(valid || err != nil))
			}
			return checkOne(p, set)
		},
	}
	toolsFlag(cmd, &tools)
	cmd.Flags().BoolVar(&lines, "jsonl", false, "read one JSON value per line")
	return cmd
}

func newContractSchema(p *process) *cobra.Command {
	var tools string
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a contract object",
		Long: `Prints the JSON Schema (2020-12) of a contract object that may call the given tools;
without --tools, none. The schema is stricter than the contract, which only warns about
unknown keys.`,
		Example: `  cupel contract schema --tools suites/mine/suite.yaml > turn.schema.json`,
		RunE: func(*cobra.Command, []string) error {
			specs, err := p.loadTools(tools)
			if err != nil {
				return err
			}
			schema, err := contract.Schema(specs)
			if err != nil {
				return exit.Usage(err)
			}
			var out bytes.Buffer
			if err := json.Indent(&out, schema, "", "  "); err != nil {
				return fmt.Errorf("contract schema: %w", err)
			}
			_, err = fmt.Fprintln(p.json, out.String())
			return err
		},
	}
	toolsFlag(cmd, &tools)
	return cmd
}

func toolsFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "tools", "", "available tools: a YAML or JSON list of {name, description, schema, …}, a suite.yaml or its folder, or builtin:counts (default none)")
}

// loadTools reads the tools a path names; an empty path names none.
func (p *process) loadTools(path string) ([]tool.Spec, error) {
	const suiteFile = "suite.yaml"
	if path == "" {
		return nil, nil
	}
	if strings.HasPrefix(path, builtinPrefix) {
		fsys, err := builtinSuite(path)
		if err != nil {
			return nil, err
		}
		return load.Tools(fsys, suiteFile, path, p.worlds())
	}
	path = filepath.Clean(path)
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, exit.Usage(fmt.Errorf("no tools file %s", path))
	case err != nil:
		return nil, exit.Usage(fmt.Errorf("tools: %w", err))
	case info.IsDir():
		return load.Tools(regular.DirFS(path), suiteFile, filepath.ToSlash(path), p.worlds())
	}
	dir := filepath.Dir(path)
	return load.Tools(regular.DirFS(dir), filepath.Base(path), filepath.ToSlash(dir), p.worlds())
}

// checkOne judges all of standard input as one output.
func checkOne(p *process, tools *tool.Set) error {
	raw, err := io.ReadAll(io.LimitReader(p.stdin, judge.MaxBytes+1))
	switch {
	case err != nil:
		return exit.Usage(fmt.Errorf("standard input: %w", err))
	case len(raw) > judge.MaxBytes:
		return exit.Usage(fmt.Errorf("standard input: larger than %d MiB", judge.MaxBytes>>20))
	}
	v := judge.Output(string(raw), false, tools)
	if err := judge.Write(p.json, v, "  "); err != nil {
		return err
	}
	return checkOutcome(v.ContractValid)
}

// checkOutcome is the exit code: what there is to say was printed.
func checkOutcome(valid bool) error {
	if valid {
		return nil
	}
	return exit.With(exit.Rejected, nil)
}
