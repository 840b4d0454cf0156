package flowsim

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

var credentialID = described(idSchema, "The id of a credential, such as cr_1.")

var credentialTools = []offer{
	{"list-credentials", groupCredential, "Lists credentials: names and types, never secrets.",
		object{"type": described(idSchema, "Only credentials of this type."), "limit": whole(1, 200, 50), "offset": whole(0, 100_000, 0)}, reading((*instance).listCredentials)},
	{"get-credential", groupCredential, "Returns what is known of a credential, never its secret.", object{"credentialId!": credentialID}, reading((*instance).getCredential)},
	{"delete-credential", groupCredential, "Deletes a credential for ever. Workflows that use it will fail.", object{"credentialId!": credentialID}, reading((*instance).deleteCredential)},
	{"search-credential-types", groupCredential, "Finds types of credentials by words, such as slack.", object{"query!": text(200)}, reading((*instance).searchCredentialTypes)},
	{"setup-credentials", groupCredential, "Asks the user to set up a credential of a type. The user enters the secret; you never see it.", object{"credentialType!": idSchema}, reading((*instance).setupCredentials)},
	{"test-credential", groupCredential, "Tests whether a credential is accepted by its service.", object{"credentialId!": credentialID}, reading((*instance).testCredential)},
}

// credentialArgs are the arguments of the tools of credentials.
type credentialArgs struct {
	CredentialID   string `json:"credentialId"`
	CredentialType string `json:"credentialType"`
	Type           string `json:"type"`
	Query          string `json:"query"`
	Limit          int    `json:"limit"`
	Offset         int    `json:"offset"`
}

func shownCredential(c *credential) map[string]any {
	return map[string]any{"createdAt": stamp(c.created), "id": c.ID, "name": c.Name, "type": c.Type, "updatedAt": stamp(c.updated)}
}

func (w *instance) listCredentials(a credentialArgs) world.Effect {
	all := []any{}
	for _, id := range w.credentials.numbered() {
		if c := w.credentials.all[id]; a.Type == "" || c.Type == a.Type {
			all = append(all, shownCredential(c))
		}
	}
	from := min(a.Offset, len(all))
	to := min(from+cmp.Or(a.Limit, 50), len(all))
	out := map[string]any{"credentials": all[from:to]}
	if to < len(all) {
		out["hint"] = "there are more credentials: ask for a type, or use offset"
	}
	return give(out)
}

// noCredential refuses a call with an id that no credential has.
func noCredential(id string) world.Effect {
	return world.Refuse("E_NOT_FOUND", "there is no credential %q; list-credentials shows those that exist", clip.Runes(id, 64))
}

func (w *instance) getCredential(a credentialArgs) world.Effect {
	c := w.credentials.all[a.CredentialID]
	if c == nil {
		return noCredential(a.CredentialID)
	}
	out := shownCredential(c)
	nodes := []string{}
	for _, t := range graph.Types() {
		if slices.ContainsFunc(t.Credentials, func(k graph.Credential) bool { return k.Type == c.Type }) {
			nodes = append(nodes, t.Name)
		}
	}
	out["nodesWithAccess"] = nodes
	return give(out)
}

func (w *instance) deleteCredential(a credentialArgs) world.Effect {
	if w.credentials.all[a.CredentialID] == nil {
		return noCredential(a.CredentialID)
	}
	w.credentials.remove(a.CredentialID)
	return give(map[string]any{"success": true})
}

func (w *instance) searchCredentialTypes(a credentialArgs) world.Effect {
	out := []any{}
	words := strings.Fields(strings.ToLower(a.Query))
	for _, t := range graph.CredentialTypes() {
		in := strings.ToLower(t.Name + " " + t.Description)
		if !t.Generic && slices.ContainsFunc(words, func(word string) bool { return strings.Contains(in, word) }) {
			out = append(out, map[string]any{"description": t.Description, "displayName": t.Description, "name": t.Name})
		}
	}
	return give(map[string]any{"credentialTypes": out})
}

// credentialType returns the type of credentials with this name, or nil.
func credentialType(name string) *graph.CredentialType {
	all := graph.CredentialTypes()
	if i := slices.IndexFunc(all, func(t graph.CredentialType) bool { return t.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// setupCredentials is what the instance does once the user has entered a secret, or has
// selected a credential of that type.
func (w *instance) setupCredentials(a credentialArgs) world.Effect {
	if credentialType(a.CredentialType) == nil {
		return world.Refuse("E_NOT_FOUND", "there is no type of credentials %q; search-credential-types finds them", clip.Runes(a.CredentialType, 64))
	}
	id := w.answer().Text
	if c := w.credentials.all[id]; w.answer().Say != person.Select || c == nil || c.Type != a.CredentialType {
		id = w.newCredential(a.CredentialType)
	}
	return give(map[string]any{"credentialId": id, "credentialType": a.CredentialType})
}

// newCredential adds a credential of a type, as its user does, and returns its id.
func (w *instance) newCredential(kind string) string {
	c := &credential{ID: w.next("cr"), Name: kind + " account", Type: kind, Status: credentialOK, created: w.now, updated: w.now}
	w.credentials.put(c.ID, c)
	return c.ID
}

func (w *instance) testCredential(a credentialArgs) world.Effect {
	c := w.credentials.all[a.CredentialID]
	if c == nil {
		return noCredential(a.CredentialID)
	}
	switch c.Status {
	case credentialRejected:
		return give(map[string]any{"message": "401: the service rejects the credential", "success": false})
	case credentialQuota:
		return give(map[string]any{"message": "the quota of the account is used up", "success": false})
	}
	return give(map[string]any{"success": true})
}
