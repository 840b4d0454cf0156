package cassette

// Header describes a cassette: the recorded episode and its configuration.
type Header struct {
	Suite     string `yaml:"suite,omitempty"`
	Task      string `yaml:"task,omitempty"`
	Candidate string `yaml:"candidate,omitempty"`
	Trial     int    `yaml:"trial,omitempty"`
	Provider  string `yaml:"provider,omitempty"`
	Model     string `yaml:"model,omitempty"`
	// Simulated is set if the model is a simulation.
	Simulated bool `yaml:"simulated,omitempty"`
	// Recorded is the UTC day of the recording, YYYY-MM-DD.
	Recorded string `yaml:"recorded,omitempty"`
	// Adapter is the version of the wire codec.
	Adapter string `yaml:"adapter,omitempty"`
	// Fork is the source episode of a fork, as task/candidate/trial@turn, and ForkRecorded its
	// recording day; both are empty for any other cassette.
	Fork         string `yaml:"fork,omitempty"`
	ForkRecorded string `yaml:"fork_recorded,omitempty"`
	// Digests cover the inputs of the requests, by name (prompt, tools, contract, policy, and
	// ForkDigest).
	Digests map[string]string `yaml:"digests,omitempty"`
}
