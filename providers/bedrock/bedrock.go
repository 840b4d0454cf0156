// Package bedrock implements the Amazon Bedrock Runtime wire: it sends a
// providers.Call to Converse or ConverseStream and returns a normalised reply or a
// typed error. The bodies of InvokeModel are read too.
package bedrock

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "bedrock-converse/1"

// New makes a model of the provider. Options.Key is a Bedrock API key, sent as a
// bearer token. Without one, requests are signed (SigV4) with the credentials of
// the AWS configuration, which are looked for at the first call, and only when
// the transport reaches a network: see Options.HTTP. Without Options.Region the
// AWS configuration names the region. New makes no request.
//
// It fails with a *fault.Error of kind invalid_request when there is neither
// a base URL nor a region, when the base URL is not usable, or when it would
// carry credentials in the clear.
func New(o providers.Options) (providers.Model, error) {
	o.Provider = cmp.Or(o.Provider, "bedrock")
	refuse := func(format string, args ...any) (providers.Model, error) {
		return nil, &fault.Error{Kind: fault.InvalidRequest, Provider: o.Provider, Message: fmt.Sprintf(format, args...)}
	}
	signs := o.Key == "" && live(o.HTTP)
	if o.Region == "" && (o.BaseURL == "" || signs) {
		o.Region = configuredRegion()
	}
	d := wire.Dialect{
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		RequestID: []string{"X-Amzn-Requestid"},
		Kind:      kindOf,
	}
	switch {
	case o.BaseURL == "" && o.Region == "":
		return refuse("no region: set the region of the provider, or AWS_REGION, such as us-east-1")
	case o.Region != "" && !regionName.MatchString(o.Region):
		return refuse("region %.60q is not the name of a region, such as us-east-1", o.Region)
	case o.BaseURL == "":
		d.Base = "https://bedrock-runtime." + o.Region + ".amazonaws.com"
	}
	if (signs || o.Key != "") && o.BaseURL != "" && inTheClear(o.BaseURL) {
		return refuse("base URL is not https: credentials sent there could be read on the way; only this machine may be asked over http")
	}
	if signs {
		if o.Now == nil {
			o.Now = time.Now //nolint:forbidigo // the seam: AWS refuses a signature of another time
		}
		d.Sign = (&signer{region: o.Region, now: o.Now}).sign
	}
	return wire.NewModel(d, o, modes, exchange)
}

func exchange(call providers.Call) wire.Exchange {
	if call.Model == "" {
		return wire.Exchange{Problem: "no model: it is part of the address"}
	}
	body, warnings := newRequest(call)
	return wire.Exchange{Request: wire.Request{Path: path(call), Body: body, Framing: eventStream}, Decoder: &decoder{}, Warnings: warnings}
}

// path is the address of a call below the base. An ARN has slashes and colons,
// which are part of its one segment.
func path(call providers.Call) string {
	operation := "/converse"
	if call.Stream {
		operation = "/converse-stream"
	}
	return "/model/" + strings.ReplaceAll(url.QueryEscape(call.Model), "+", "%20") + operation
}

// live reports whether requests really leave.
func live(c *http.Client) bool {
	if c == nil {
		return true
	}
	switch t := c.Transport.(type) {
	case nil, *http.Transport:
		return true
	case interface{ Live() bool }:
		return t.Live()
	}
	return false
}

// regionName keeps a region from being another host.
var regionName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// configuredRegion is the region of the AWS configuration: of the environment or
// of the profile's file. Nothing is asked over a network.
func configuredRegion() string {
	env, err := config.NewEnvConfig()
	if err != nil || env.Region != "" {
		return env.Region
	}
	profile := cmp.Or(env.SharedConfigProfile, config.DefaultSharedConfigProfile)
	shared, err := config.LoadSharedConfigProfile(context.Background(), profile, func(o *config.LoadSharedConfigOptions) {
		if env.SharedConfigFile != "" {
			o.ConfigFiles = []string{env.SharedConfigFile}
		}
		if env.SharedCredentialsFile != "" {
			o.CredentialsFiles = []string{env.SharedCredentialsFile}
		}
	})
	if err != nil {
		return "" // no such file or profile
	}
	return shared.Region
}

// inTheClear reports whether what is sent to base can be read on the way.
func inTheClear(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" {
		return false // https, or an address that wire.New refuses
	}
	host, ip := u.Hostname(), net.ParseIP(u.Hostname())
	own := host == "localhost" || strings.HasSuffix(host, ".localhost") // RFC 6761, section 6.3
	return !own && (ip == nil || !ip.IsLoopback())
}
