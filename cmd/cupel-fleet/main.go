// Command cupel-fleet is cupel with workers on several machines: a queue, workers that take
// episodes from it, and runs that they execute.
package main

import (
	"github.com/cupel-eval/cupel/cmd"
	"github.com/cupel-eval/cupel/harness/fleet/natsfleet"
)

func main() { cmd.Main(cmd.App{Fleet: natsfleet.Service{}}) }
