package cassette

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// Packs and ledgers must have the same bytes in every version. v1.20.3 of the compressor writes
// other bytes for blocks of this length.
func TestCompressedBytesAreStable(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = byte('a' + rng.Intn(1+i>>16))
		if i > 1000 && rng.Intn(50) == 0 {
			copy(text[i:], text[i-1000:i-1000+rng.Intn(900)])
		}
	}
	e, err := newEncoder(nil)
	require.NoError(t, err)
	sum := sha256.Sum256(e.EncodeAll(text, nil))
	require.Equal(t, "44c534f5293649f9d84f77232dadddd3b43422d8ca1a610f391ded81f43a9ae0", hex.EncodeToString(sum[:]))
}
