package recorder

// HoldsSecret reports whether text holds what Save would refuse: one of the
// secrets (see Options.Secrets), or something that looks like a credential, as
// it stands or beneath common escapes.
func HoldsSecret(text string, secrets []string) bool { return newDetector(secrets).find(text) != "" }
