package s3

import (
	"crypto/x509"
	"errors"
	"net"

	"github.com/minio/minio-go/v7"

	"github.com/freshet/freshet/internal/certificates"
	"github.com/freshet/freshet/social/media"
)

// What an operator can do, by the code of a refusal. Stores of other makers have the codes of Amazon S3.
const (
	ofClock  = "the clocks of this machine and of the store differ; correct them (NTP)"
	ofKeys   = "the store refuses the credentials; correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	ofToken  = "the credentials have expired; renew them, or let the machine's role be asked with &machine_role=true"
	ofBucket = "there is no such bucket; create it, or correct the address"
	ofRegion = "the bucket is in another region; correct region= in the address"
	ofPath   = "if the store has the bucket in the path of requests, as MinIO and Garage do, and not in the host name, add &use_path_style=true to the address"
	ofRights = "these credentials may not do this; docs/operations.md lists the rights that Freshet needs"
	ofChange = "the object was replaced while it was read; try again"
)

// authorities say where the certificate of an authority belongs.
const authorities = "a file (PEM) that the variable SSL_CERT_FILE names, or among the authorities of the machine"

var remedies = map[string]string{
	"RequestTimeTooSkewed": ofClock, "RequestExpired": ofClock, "RequestNotReadyYet": ofClock, "ExpiredPresignRequest": ofClock,
	"InvalidAccessKeyId": ofKeys, "SignatureDoesNotMatch": ofKeys,
	"ExpiredToken": ofToken, "InvalidToken": ofToken, "TokenRefreshRequired": ofToken,
	"NoSuchBucket":                 ofBucket,
	"AuthorizationHeaderMalformed": ofRegion, "PermanentRedirect": ofRegion, "IllegalLocationConstraintException": ofRegion,
	"PreconditionFailed": ofChange,
	"AccessDenied":       ofRights, "AllAccessDisabled": ofRights, "AccountProblem": ofRights,
}

// explained is the function of that name. Where the bucket is a part of the host name of a store of another
// maker, it also says what to do if that name does not lead there.
func (s *Store) explained(err error) error {
	var unknown *net.DNSError
	var named x509.HostnameError
	code := minio.ToErrorResponse(err).Code
	switch {
	case err == nil, s.host == "":
	case errors.As(err, &unknown) && unknown.Name == s.host, errors.As(err, &named) && named.Host == s.host:
		return &media.Refusal{Advice: ofPath, Err: err}
	case code == "NoSuchBucket", code == "InvalidBucketName":
		return &media.Refusal{Advice: ofBucket + "; " + ofPath, Err: err}
	}
	return explained(err)
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
