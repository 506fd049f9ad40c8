package s3

import (
	"github.com/minio/minio-go/v7"

	"github.com/freshet/freshet/internal/certificates"
	"github.com/freshet/freshet/social/media"
)

// What an operator can do, by the code of a refusal. Stores of other makers have the codes of Amazon S3.
const (
	ofClock  = "the clocks of this machine and of the store differ; correct them (NTP)"
	ofKeys   = "the store refuses the credentials; correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	ofToken  = "the credentials have expired; renew them, or let the machine's role be asked with &machine_role=true"
	ofBucket = "there is no such bucket; create it, or correct media.url"
	ofRegion = "the bucket is in another region; correct region= in media.url"
	ofRights = "these credentials may not do this; docs/operations.md lists the rights that Freshet needs"
)

// authorities say where the certificate of an authority belongs.
const authorities = "a file (PEM) that the variable SSL_CERT_FILE names, or among the authorities of the machine"

var remedies = map[string]string{
	"RequestTimeTooSkewed": ofClock, "RequestExpired": ofClock, "RequestNotReadyYet": ofClock, "ExpiredPresignRequest": ofClock,
	"InvalidAccessKeyId": ofKeys, "SignatureDoesNotMatch": ofKeys,
	"ExpiredToken": ofToken, "InvalidToken": ofToken, "TokenRefreshRequired": ofToken,
	"NoSuchBucket":                 ofBucket,
	"AuthorizationHeaderMalformed": ofRegion, "PermanentRedirect": ofRegion, "IllegalLocationConstraintException": ofRegion,
	"AccessDenied": ofRights, "AllAccessDisabled": ofRights, "AccountProblem": ofRights,
}

// explained adds to a refusal of the store what can be done about it.
func explained(err error) error {
	if err == nil {
		return nil
	}
	if fault, ok := certificates.Check(err, authorities); ok {
		return &media.Refusal{Advice: fault.Advice, Err: err}
	}
	advice, ok := remedies[minio.ToErrorResponse(err).Code]
	if !ok {
		return err
	}
	return &media.Refusal{Advice: advice, Err: err}
}
