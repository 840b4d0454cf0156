// Package config reads the program's settings: defaults, then cupel.yaml, then CUPEL_…
// variables of the environment, then flags. Paths in the file are relative to its folder,
// all others to the working directory. It is the only package with viper.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/reports/compare"
)

// Name is the file looked for in the working directory.
const Name = "cupel.yaml"

// fileConfig is the shape of cupel.yaml.
type fileConfig struct {
	Suite           string         `yaml:"suite"`
	Runs            string         `yaml:"runs"`
	Mode            string         `yaml:"mode"`
	Trials          int            `yaml:"trials"`
	Concurrency     int            `yaml:"concurrency"`
	LaneConcurrency int            `yaml:"lane_concurrency"`
	Seed            int64          `yaml:"seed"`
	MaxCost         yaml.Node      `yaml:"max_cost"`
	MaxTokens       yaml.Node      `yaml:"max_tokens"`
	MaxRequests     yaml.Node      `yaml:"max_requests"`
	Limits          yaml.Node      `yaml:"limits"`
	Candidates      yaml.Node      `yaml:"candidates"`
	Matrix          yaml.Node      `yaml:"matrix"`
	Policy          yaml.Node      `yaml:"policy"`
	Prices          string         `yaml:"prices"`
	Acceptance      fileAcceptance `yaml:"acceptance"`
	Criteria        yaml.Node      `yaml:"criteria"`
	Regression      yaml.Node      `yaml:"regression"`
	Canary          yaml.Node      `yaml:"canary"`

	list  []goldens.Candidate // what Candidates says
	lines map[string]int      // of the top-level fields
}

// settings are the scalar settings with their defaults, in the order shown.
// Every one is a key of cupel.yaml, an environment variable CUPEL_<KEY> and,
// where the verb has it, a flag.
var settings = []struct {
	key   string
	value any
}{
	{"suite", "builtin:counts"},
	{"runs", "runs"},
	{"mode", "replay"},
	{"trials", 1},
	{"concurrency", 0},
	{"lane_concurrency", 0},
	{"seed", int64(1)},
	{"prices", ""},
	{"max_cost", ""},
	{"max_tokens", ""},
	{"max_requests", ""},
	{"canary", "off"},
}

// Config are the settings in force, after precedence: defaults < file < environment <
// flags.
type Config struct {
	Suite, Runs, Mode, Prices string
	Trials, Concurrency       int
	// LaneConcurrency bounds the requests in flight to a provider without limits.
	LaneConcurrency int
	Seed            int64
	Candidates      []goldens.Candidate
	// Canary asks the model drift canary at the start of recording and live runs.
	Canary bool
	// Matrix are the candidates that the file's matrix produces; Candidates has them, too.
	Matrix []goldens.Candidate
	// Caps limits the spending of a run, Limits that of single providers.
	Caps   admission.Caps
	Limits map[string]admission.Limits

	Policy     policy.Policy
	Acceptance manifest.Acceptance
	// Regression has the rules of comparisons, without today's date.
	Regression compare.Rules
	// Pack is the flag --pack of a verb that replays: the pack of the run's recordings.
	Pack string
	// File is the configuration file that was read; empty if there is none.
	File string
	// sources says where each setting came from, values what it is, as text, and lines
	// where the file has it.
	sources, values map[string]string
	lines           map[string]int
	places          places
}

// Setting is one scalar setting.
type Setting struct {
	// Key is that of cupel.yaml, Value its text, Source where that came from.
	Key, Value, Source string
}

// Settings lists the scalar settings in the order of cupel.yaml.
func (c Config) Settings() (list []Setting) {
	for _, s := range settings {
		list = append(list, Setting{s.key, c.values[s.key], c.sources[s.key]})
	}
	return list
}

// FromFlag says whether a flag set a setting.
func (c Config) FromFlag(key string) bool { return strings.HasPrefix(c.sources[key], "flag ") }

// Flag is the flag by which another command reads the same file, such as " --config
// ci.yaml"; empty if it finds the file without one, or if there is none.
func (c Config) Flag() string {
	if c.File == "" || c.File == Name {
		return ""
	}
	return " --config " + c.File
}

// Place is the file, line and name of a setting, with a colon, to begin an error with;
// empty if the file does not give the setting.
func (c Config) Place(key string) string {
	if c.File == "" || c.sources[key] != c.File {
		return ""
	}
	return fmt.Sprintf("%s:%d: %s: ", c.File, c.lines[key], key)
}

// CandidatesOf returns the configuration's candidates, or else those of the suite.
func (c Config) CandidatesOf(suite *goldens.Suite) []goldens.Candidate {
	if c.Candidates != nil {
		return c.Candidates
	}
	return suite.Candidates
}

// Locate adds file and line to every problem of a candidate of the file.
func (c Config) Locate(text string) string { return c.places.locate(text) }

// Sources are the inputs of a configuration apart from its file.
type Sources struct {
	Flags *pflag.FlagSet
	// Env looks up an environment variable.
	Env func(name string) (string, bool)
	// Providers are the names that candidates and limits may have. The policy's defaults
	// hold for those that it does not name.
	Providers []string
	// Suites are the names of the built-in suites, which are not paths.
	Suites []string
}

// Load reads the file, the environment and the flags. Its errors are of the caller's
// usage, and name file, line and field of every problem. What could be read is
// returned with an error, too, for Locate.
func Load(from Sources) (Config, error) {
	flags := from.Flags
	path, explicit := Name, false
	if f := flags.Lookup("config"); f != nil && f.Changed {
		path, explicit = f.Value.String(), true
	}
	file, text, err := readConfigFile(path, explicit)
	if err != nil {
		return Config{}, exit.Usage(err)
	}
	v := viper.NewWithOptions(viper.KeyDelimiter("::"))
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
		return Config{}, exit.Usage(fmt.Errorf("%s: %w", path, err))
	}
	c := Config{Candidates: file.list, sources: map[string]string{}, values: map[string]string{}, lines: file.lines}
	if text != nil {
		c.File = path
	}
	for _, s := range settings {
		v.SetDefault(s.key, s.value)
		c.sources[s.key] = from.set(v, s.key, path)
		c.values[s.key] = v.GetString(s.key)
	}
	for _, key := range []string{"suite", "runs", "prices"} {
		if c.sources[key] == path {
			c.values[key] = from.beside(path, c.values[key])
		}
	}
	c.Suite, c.Runs, c.Mode, c.Prices = c.values["suite"], c.values["runs"], c.values["mode"], c.values["prices"]
	if c.Acceptance, err = file.Acceptance.read(path); err != nil {
		return c, err
	}
	err = errors.Join(
		number(v, c.sources, "trials", &c.Trials), number(v, c.sources, "concurrency", &c.Concurrency),
		number(v, c.sources, "lane_concurrency", &c.LaneConcurrency),
		number(v, c.sources, "seed", &c.Seed), c.loadPolicy(&file.Policy),
		c.loadCaps(v, file), c.loadLimits(&file.Limits, from.Providers), c.loadMatrix(&file.Matrix), c.loadCriteria(&file.Criteria),
		c.loadRegression(&file.Regression), c.loadCanary(v, &file.Canary))
	for _, name := range from.Providers { // custom ones
		if _, ok := c.Policy.Providers[name]; !ok && c.Policy.Providers != nil {
			c.Policy.Providers[name] = policy.Provider{}
		}
	}
	for i := range c.Candidates {
		c.Candidates[i].Beside(filepath.Dir(path))
	}
	c.places = findPlaces(path, &file.Candidates, file.Matrix.Line, c.Matrix)
	return c, err
}

// beside resolves a path of a configuration file against the folder of that file.
func (from Sources) beside(file, path string) string {
	dir := filepath.Dir(file)
	if path == "" || dir == "." || filepath.IsAbs(path) || strings.HasPrefix(path, "builtin:") {
		return path
	}
	to := filepath.Join(dir, path)
	if _, err := os.Stat(to); err != nil && slices.Contains(from.Suites, path) {
		return path
	}
	return to
}

// loadMatrix adds the candidates of the file's matrix to those it lists.
func (c *Config) loadMatrix(node *yaml.Node) (err error) {
	if node.IsZero() {
		return nil
	}
	c.Matrix, err = load.Matrix(c.File, node, c.Candidates)
	c.Candidates = slices.Concat(c.Candidates, c.Matrix)
	return err
}

// loadPolicy merges the file's policy into the default one.
func (c *Config) loadPolicy(node *yaml.Node) (err error) {
	if node.IsZero() {
		c.Policy = policy.Default()
		return nil
	}
	if c.Policy, err = policy.Read(resolved(node)); err == nil {
		return nil
	}
	var errs []error
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		if at, ok := errors.AsType[*policy.FieldError](e); ok {
			e = fmt.Errorf("%s:%d: policy: %s", c.File, at.Line, strings.TrimPrefix(at.Field+": "+at.Detail, "policy: "))
		}
		errs = append(errs, e)
	}
	return exit.Usage(errors.Join(errs...))
}

// set gives a setting the value of its flag or environment variable, and names the source of
// its value.
func (from Sources) set(v *viper.Viper, key, path string) string {
	if f := settingFlag(from.Flags, key); f != nil {
		v.Set(key, f.Value.String())
		return "flag --" + flagName(key)
	}
	if value, ok := from.Env(envName(key)); ok && value != "" {
		v.Set(key, value)
		return "environment " + envName(key)
	}
	if v.InConfig(key) {
		return path
	}
	return "default"
}

// settingFlag returns the flag that sets a setting, or nil if it was not given. A switch
// of the same name, such as doctor's --prices, is not such a flag.
func settingFlag(flags *pflag.FlagSet, key string) *pflag.Flag {
	if f := flags.Lookup(flagName(key)); f != nil && f.Changed && f.Value.Type() != "bool" {
		return f
	}
	return nil
}

func flagName(key string) string { return strings.ReplaceAll(key, "_", "-") }

func envName(key string) string { return "CUPEL_" + strings.ToUpper(key) }

// number reads an integer setting; viper's own getters return 0 for nonsense.
func number[N int | int64](v *viper.Viper, sources map[string]string, key string, to *N) error {
	text := v.GetString(key)
	if _, err := fmt.Sscanf(text+"\n", "%d\n", to); err != nil {
		return exit.Usage(fmt.Errorf("%s (%s): %q is not a whole number", key, sources[key], text))
	}
	return nil
}

// readConfigFile decodes the file strictly. A missing file is an error only if it was named.
func readConfigFile(path string, explicit bool) (fileConfig, []byte, error) {
	var file fileConfig
	text, err := regular.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !explicit {
		return file, nil, nil
	}
	if err != nil {
		return file, nil, fmt.Errorf("read configuration: %w", err)
	}
	if text == nil {
		text = []byte{}
	}
	return file, text, decode(path, text, &file)
}

// LoadPrices reads the price table: the embedded one, overridden by the file if
// one is configured.
func (c Config) LoadPrices() (price.Table, error) {
	if c.Prices == "" {
		return price.Default()
	}
	text, err := regular.ReadFile(c.Prices)
	if err != nil {
		return price.Table{}, exit.Usage(fmt.Errorf("%sread prices: %w", c.Place("prices"), err))
	}
	prices, err := price.Parse(text)
	if err != nil {
		return prices, exit.Usage(fmt.Errorf("%s: %w", filepath.ToSlash(c.Prices), err))
	}
	return prices, nil
}

// loadCanary reads whether runs ask the model drift canary.
func (c *Config) loadCanary(v *viper.Viper, node *yaml.Node) error {
	text, from := v.GetString("canary"), c.sources["canary"]
	where := fmt.Sprintf("canary (%s)", from)
	if from == c.File && c.File != "" {
		text, where = scalarText(node), fmt.Sprintf("%s:%d: canary", c.File, node.Line)
	}
	if !slices.Contains([]string{"on", "off", "true", "false"}, text) {
		return exit.Usage(fmt.Errorf("%s: %.60q must be on or off", where, text))
	}
	c.Canary, c.values["canary"] = text == "on" || text == "true", text
	return nil
}
