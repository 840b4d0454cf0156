package wire

import "github.com/cupel-eval/cupel/providers"

// Account names the numbers of an object beside the usage object, as
// Usage does those of the object itself.
func (f *Fields) Account(u *providers.Usage, raw []byte) { account(u, raw, f) }
