package vertex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"
)

const (
	scope    = "https://www.googleapis.com/auth/cloud-platform"
	tokenURL = "https://oauth2.googleapis.com/token"
)

// credentials are a file of Application Default Credentials.
type credentials struct {
	Type         string `json:"type"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
	ClientEmail  string `json:"client_email"`
	PrivateKeyID string `json:"private_key_id"`
	PrivateKey   string `json:"private_key"`
	TokenURL     string `json:"token_uri"`
}

// findCredentials reads the file that GOOGLE_APPLICATION_CREDENTIALS names, or
// the one that gcloud writes. See "How Application Default Credentials works"
// (cloud.google.com/docs/authentication/application-default-credentials).
func findCredentials(ctx context.Context, env func(string) string) (oauth2.TokenSource, error) {
	path := env("GOOGLE_APPLICATION_CREDENTIALS")
	if path == "" {
		home := filepath.Join(env("HOME"), ".config")
		if runtime.GOOS == "windows" {
			home = env("APPDATA")
		}
		path = filepath.Join(home, "gcloud", "application_default_credentials.json")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	source, err := readCredentials(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("credentials %s: %w", path, err)
	}
	return source, nil
}

// readCredentials takes the two forms that hold all they need: of a user and of
// a service account. No error quotes the text.
func readCredentials(ctx context.Context, text []byte) (oauth2.TokenSource, error) {
	var c credentials
	if json.Unmarshal(text, &c) != nil {
		return nil, errors.New("not the JSON of a credential")
	}
	switch c.Type {
	case "authorized_user":
		config := oauth2.Config{ClientID: c.ClientID, ClientSecret: c.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: tokenURL}}
		return config.TokenSource(ctx, &oauth2.Token{RefreshToken: c.RefreshToken}), nil
	case "service_account":
		config := jwt.Config{Email: c.ClientEmail, PrivateKey: []byte(c.PrivateKey), PrivateKeyID: c.PrivateKeyID, Scopes: []string{scope}, TokenURL: c.TokenURL}
		if config.TokenURL == "" {
			config.TokenURL = tokenURL
		}
		return config.TokenSource(ctx), nil
	}
	return nil, fmt.Errorf("type %.40q is not supported: want authorized_user or service_account", c.Type)
}

// credentialError says that no token could be had. It never shows what the
// token's server answered.
type credentialError struct{ err error }

func (e *credentialError) Error() string {
	const advice = "set VERTEX_ACCESS_TOKEN or run gcloud auth application-default login"
	var refused *oauth2.RetrieveError
	if errors.As(e.err, &refused) {
		return fmt.Sprintf("get an access token: the server refused with %.60q: %s", refused.ErrorCode, advice)
	}
	return fmt.Sprintf("get an access token: %.300s: %s", e.err, advice)
}

func (e *credentialError) Unwrap() error { return e.err }
