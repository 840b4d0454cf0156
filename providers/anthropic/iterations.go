package anthropic

import "github.com/cupel-eval/cupel/providers"

// iteration is one of several requests behind a reply ("Compaction", "Advisor tool",
// docs.claude.com). The counts beside the iterations leave compaction and advice out.
type iteration struct {
	Type  string `json:"type"`
	Model string `json:"model"`
	counts
}

// iterated replaces the counts beside the iterations by the sum of these, each a part
// with its own model and prompt.
func (r report) iterated(beside providers.Usage, served, advisorTier string) providers.Usage {
	u := beside
	u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWriteLong = 0, 0, 0, 0, 0
	const most = 256               // each is looked up in the price table
	var own, first providers.Usage // of the model itself
	begun := false
	for _, it := range r.Iterations {
		if len(r.Iterations) == 1 && it.CacheCreation == nil {
			it.CacheCreation = r.CacheCreation
		}
		part := it.classes()
		if len(part.NotUnderstood) > 0 {
			u.Doubt("iterations[].cache_creation_input_tokens", "is not the sum of cache_creation")
		}
		part.Reported, part.NotUnderstood, part.Tier = true, nil, u.Tier
		model := it.Model
		switch it.Type {
		case "compaction":
		case "advisor_message":
			part.Tier = advisorTier
			if model == "" {
				u.Doubt("iterations[].model", "is missing where another model was asked")
			}
		default:
			if it.Type != "message" { // such as fallback_message, of which a credit is taken off
				u.Doubt("iterations[].type", "is of a kind whose price is unknown")
			}
			addCounts(&own, part)
			if !begun {
				begun, first = true, part
			}
		}
		if model == served && it.Type != "advisor_message" {
			model = ""
		}
		addCounts(&u, part)
		if len(u.Parts) == most {
			u.Doubt("iterations", "are more than are priced")
			continue
		}
		u.Parts = append(u.Parts, providers.UsagePart{Model: model, Usage: part})
	}
	if len(u.Parts) == 1 && u.Parts[0].Model == "" {
		u.Parts = nil
	}
	reconcile(&u, beside, own, first)
	return u
}

// reconcile checks the counts beside the iterations: output is the sum of those of the
// model itself, input and the cache that sum or, with an advisor, those of the first.
// What is more beside them is counted.
func reconcile(u *providers.Usage, beside, own, first providers.Usage) {
	for _, c := range []struct {
		to               *int64
		beside, own, one int64
	}{
		{&u.Input, beside.Input, own.Input, first.Input},
		{&u.Output, beside.Output, own.Output, own.Output},
		{&u.CacheRead, beside.CacheRead, own.CacheRead, first.CacheRead},
		{&u.CacheWrite, beside.CacheWrite, own.CacheWrite, first.CacheWrite},
		{&u.CacheWriteLong, beside.CacheWriteLong, own.CacheWriteLong, first.CacheWriteLong},
	} {
		if c.beside != c.own && c.beside != c.one {
			u.Doubt("iterations", "do not add up to the counts beside them")
			*c.to += max(0, c.beside-c.own)
		}
	}
}

func addCounts(to *providers.Usage, part providers.Usage) {
	to.Input += part.Input
	to.Output += part.Output
	to.CacheRead += part.CacheRead
	to.CacheWrite += part.CacheWrite
	to.CacheWriteLong += part.CacheWriteLong
}
