package model

import "github.com/cupel-eval/cupel/goldens/playbook/mistake"

// AddMistaken adds a model that makes one mistake on an automation instance wherever it fits, and
// no other, and returns its name.
func AddMistaken(k mistake.Kind) string {
	for _, p := range Profiles {
		if p.Name == "sim-oracle" {
			p.Name, p.acting = "sim-"+string(k), []Rate[mistake.Kind]{{k, 1}}
			Profiles = append(Profiles, p)
			return p.Name
		}
	}
	panic("there is no sim-oracle")
}
