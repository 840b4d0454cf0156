// Command mine is cupel with an agent, a tool, a world, a provider and an importer of its own.
package main

import (
	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/cmd"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/providers"
)

func main() {
	cmd.Main(cmd.App{
		Strategies: map[string]agent.Strategy{"brief": {New: newBrief}},
		Tools:      map[string]episode.ToolFunc{"count_stock": countStock},
		Worlds:     map[string]world.Kind{"store": storeKind{}},
		Providers:  map[string]providers.Factory{"house": newHouse},
		Importers:  map[string]imports.Format{"tickets": tickets{}},
	})
}
