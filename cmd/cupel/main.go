// Command cupel runs golden tasks against LLM agents and reads the verdict: a
// suite and candidates go in; a ledger, a report and an exit code come out.
package main

import "github.com/cupel-eval/cupel/cmd"

func main() { cmd.Main(cmd.App{}) }
