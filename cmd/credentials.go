package cmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// guard makes everything the process prints pass by its secrets, and everything
// it takes from the environment as a credential known to them. What it prints is
// inert text unless it is written to one of the two writers that say otherwise.
func (p *process) guard() {
	p.secrets = secrets.New()
	out := p.stdout
	p.stdout = console.Text(out, p.secrets)
	p.stderr = console.Text(p.stderr, p.secrets)
	p.json = console.JSON(out, p.secrets)
	p.commands = console.Commands(out, p.secrets)
}

// credential looks a credential up in the environment.
func (p *process) credential(name string) (string, bool) {
	value, ok := p.env(name)
	p.secrets.Add(value)
	return value, ok
}

// loadCredentials makes known what the process or a library it uses could send or
// show: the keys of all providers, and the credentials of the clouds, which
// their libraries take from the environment and from files.
func (p *process) loadCredentials() {
	for _, name := range all.Keys() {
		p.credential(name)
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GOOGLE_API_KEY", "GITHUB_TOKEN"} {
		p.credential(name)
	}
	home, _ := p.env("HOME")
	aws := cmp.Or(p.firstEnv("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, ".aws", "credentials"))
	p.secrets.Add(iniSecrets(readSmall(aws))...)
	google := cmp.Or(p.firstEnv("GOOGLE_APPLICATION_CREDENTIALS"), filepath.Join(home, ".config", "gcloud", "application_default_credentials.json"))
	p.secrets.Add(jsonSecrets(readSmall(google))...)
}

// maxCredentials bounds a file with credentials, in bytes.
const maxCredentials = 1 << 20

// readSmall returns a file's content; nothing of one that is missing or no file
// of this kind: the library that needs it will say so.
func readSmall(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCredentials {
		return nil
	}
	text, err := regular.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

// iniSecrets returns the credentials of all profiles of an AWS credentials file.
func iniSecrets(text []byte) (values []string) {
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(line, "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "aws_access_key_id", "aws_secret_access_key", "aws_session_token":
			if ok {
				values = append(values, strings.TrimSpace(value))
			}
		}
	}
	return values
}

// jsonSecrets returns the credentials of a Google credentials file.
func jsonSecrets(text []byte) (values []string) {
	var file map[string]any
	if json.Unmarshal(text, &file) != nil {
		return nil
	}
	for _, name := range []string{"private_key", "private_key_id", "refresh_token", "client_secret"} {
		if value, ok := file[name].(string); ok {
			values = append(values, value)
			// A key is in lines, and each of them tells something of it.
			values = append(values, strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })...)
		}
	}
	return slices.DeleteFunc(values, func(v string) bool { return strings.HasPrefix(v, "-----") })
}

// reportRedactions tells the person where credentials were left out.
func (p *process) reportRedactions(res harness.Result) {
	for _, w := range res.Redactions {
		_, _ = fmt.Fprintf(p.stderr, "cupel: %s contained %s in %d texts; %s replaces it there. Find out how it got there, and revoke it if it is valid\n",
			w.Field, w.Kind, w.Count, secrets.Hidden)
	}
}
