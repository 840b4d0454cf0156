package vertex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/cupel-eval/cupel/internal/regular"
)

const scope = "https://www.googleapis.com/auth/cloud-platform"

// findCredentials takes the file that GOOGLE_APPLICATION_CREDENTIALS names, or
// the one that gcloud writes, or else the machine's own account, on machines that
// have one. See "How Application Default Credentials works"
// (cloud.google.com/docs/authentication/application-default-credentials).
func (t *transport) findCredentials(ctx context.Context) (oauth2.TokenSource, error) {
	path := t.env("GOOGLE_APPLICATION_CREDENTIALS")
	named := path != ""
	if !named {
		home := filepath.Join(t.env("HOME"), ".config")
		if runtime.GOOS == "windows" {
			home = t.env("APPDATA")
		}
		path = filepath.Join(home, "gcloud", "application_default_credentials.json")
	}
	text, err := regular.ReadFile(path)
	switch {
	case err != nil && !named && t.onGoogle():
		return google.ComputeTokenSource("", scope), nil
	case err != nil:
		return nil, err
	}
	var form struct {
		Type google.CredentialsType `json:"type"`
	}
	if err = json.Unmarshal(text, &form); err != nil {
		return nil, fmt.Errorf("credentials %s: %w", path, err)
	}
	// The file is the user's own, so every type that it names is accepted.
	found, err := google.CredentialsFromJSONWithType(ctx, text, form.Type, scope)
	if err != nil {
		return nil, fmt.Errorf("credentials %s: %w", path, err)
	}
	return found.TokenSource, nil
}

// credentialError reports that no token could be had. It never shows what the
// token's server answered.
type credentialError struct{ err error }

func (e *credentialError) Error() string {
	const advice = "set VERTEX_ACCESS_TOKEN or run gcloud auth application-default login"
	if refused, ok := errors.AsType[*oauth2.RetrieveError](e.err); ok {
		return fmt.Sprintf("get an access token: the server refused with %.60q: %s", refused.ErrorCode, advice)
	}
	return fmt.Sprintf("get an access token: %.300s: %s", e.err, advice)
}

func (e *credentialError) Unwrap() error { return e.err }
