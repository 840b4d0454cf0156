package drive

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Count is 1 for true and 0 for false.
func Count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Simulated reports whether a provider's models are simulations.
func Simulated(provider string) bool { return strings.HasPrefix(provider, "sim-") }

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// DigestOf returns the SHA-256 of the JSON of its arguments, in hexadecimal.
func DigestOf(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		panic("harness: " + err.Error()) // unreachable: loaded suites and plans encode
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// StatusWith returns the status of a run that ended with these outcomes.
func StatusWith(o manifest.Outcomes) string {
	if o.WithoutResult() > 0 {
		return "partial"
	}
	return "complete"
}

// ManifestTask returns the entry of a task in run.json.
func ManifestTask(s *goldens.Suite, t goldens.Task) manifest.Task {
	parts := s.TaskParts(t)
	base := ""
	if t.Attack != nil {
		base = t.Attack.Task
	}
	return manifest.Task{
		ID: t.ID, Title: t.Title, Tier: t.Tier, Tags: t.Tags, Request: clip.Bytes(t.Request, 400), Scripted: t.Scripted, Session: t.Session, Base: base, Digest: s.TaskDigest(t),
		RequestDigest: parts.Request, WorldDigest: parts.World, ToolsDigest: parts.Tools, ChecksDigest: parts.Checks,
	}
}

// LaneName identifies a lane. It contains a key, so it must not be written to any output.
func LaneName(c goldens.Candidate, key string) string {
	return c.Provider + "\x00" + c.BaseURL + "\x00" + key
}

// ModelsOf returns the models that a candidate may use.
func ModelsOf(c goldens.Candidate) []string {
	list := []string{c.Model}
	for _, other := range []string{c.Rescue, c.Fallback, c.Plan.ReasoningModel} {
		if other != "" && !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	return list
}
