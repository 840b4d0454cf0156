package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
)

// service is the name of Bedrock Runtime in a signature.
const service = "bedrock"

// signer signs requests by AWS Signature Version 4 (IAM User Guide, "AWS
// Signature Version 4 for API requests"). It is safe for concurrent use.
type signer struct {
	region string
	now    func() time.Time

	mu          sync.Mutex
	credentials aws.CredentialsProvider
	v4          *v4.Signer
}

// sign puts the signature into the headers. The body is signed, not changed.
func (s *signer) sign(ctx context.Context, r *http.Request, body []byte) error {
	if s.region == "" {
		return errors.New("no region: set the region of the provider, or AWS_REGION")
	}
	if err := s.load(ctx); err != nil {
		return fmt.Errorf("read the AWS configuration: %w", err)
	}
	credentials, err := s.credentials.Retrieve(ctx) // keeps them until they expire
	if err != nil {
		return fmt.Errorf("no AWS credentials: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE: %w", err)
	}
	digest := sha256.Sum256(body)
	return s.v4.SignHTTP(ctx, credentials, r, hex.EncodeToString(digest[:]), service, s.region, s.now())
}

// load reads the AWS configuration once.
func (s *signer) load(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.credentials != nil {
		return nil
	}
	c, err := config.LoadDefaultConfig(ctx, config.WithRegion(s.region))
	if err != nil {
		return err
	}
	s.credentials, s.v4 = c.Credentials, v4.NewSigner()
	return nil
}
