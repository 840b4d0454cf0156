package cassette

// Header describes a cassette: what was recorded, of whom, and with what.
type Header struct {
	Suite     string `yaml:"suite,omitempty"`
	Task      string `yaml:"task,omitempty"`
	Candidate string `yaml:"candidate,omitempty"`
	Trial     int    `yaml:"trial,omitempty"`
	Provider  string `yaml:"provider,omitempty"`
	Model     string `yaml:"model,omitempty"`
	// Simulated says that no real model was asked.
	Simulated bool `yaml:"simulated,omitempty"`
	// Recorded is the UTC day of the recording, YYYY-MM-DD.
	Recorded string `yaml:"recorded,omitempty"`
	// Adapter is the version of the wire codec.
	Adapter string `yaml:"adapter,omitempty"`
	// Fork says which episode a fork goes on from, as task/candidate/trial@turn, and
	// ForkRecorded when that was recorded; empty for any other.
	Fork         string `yaml:"fork,omitempty"`
	ForkRecorded string `yaml:"fork_recorded,omitempty"`
	// Digests of what went into the requests, by name (prompt, tools, contract,
	// policy, and ForkDigest).
	Digests map[string]string `yaml:"digests,omitempty"`
}
