package s3

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// amazon is the host of Amazon S3; the client replaces it by the host of the region.
const amazon = "s3.amazonaws.com"

// address holds the parts of an address other than the bucket.
type address struct {
	host                   string
	secure                 bool
	region                 string
	prefix                 string
	lookup                 minio.BucketLookupType
	machineRole, anonymous bool
}

func parse(at *url.URL) (address, error) {
	a := address{host: amazon, secure: true}
	path := false
	for name, values := range at.Query() {
		var err error
		switch value := values[0]; name {
		case "region":
			a.region = value
		case "prefix":
			a.prefix = value
		case "endpoint":
			err = a.setEndpoint(value)
		case "use_path_style":
			path, err = strconv.ParseBool(value)
		case "machine_role":
			a.machineRole, err = strconv.ParseBool(value)
		case "anonymous":
			a.anonymous, err = strconv.ParseBool(value)
		default:
			err = errors.New("unknown; known are region, endpoint, use_path_style, prefix, machine_role and anonymous")
		}
		if err != nil {
			return a, fmt.Errorf("parameter %s: %w", name, err)
		}
	}
	a.region = cmp.Or(a.region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	switch {
	case path:
		a.lookup = minio.BucketLookupPath
	case a.host != amazon:
		a.lookup = minio.BucketLookupDNS
	}
	if a.region == "" {
		if a.host == amazon {
			return a, errors.New("the region is missing: s3://bucket?region=…")
		}
		a.region = "us-east-1" // the usual default of S3-compatible stores without regions
	}
	return a, nil
}

// isEndpoint reports whether a URL has only a scheme, http or https, and a host.
func isEndpoint(u *url.URL) bool {
	isHTTP := u.Scheme == "http" || u.Scheme == "https"
	isRoot := u.Path == "" || u.Path == "/"
	onlyHost := u.Host != "" && u.User == nil
	return isHTTP && isRoot && onlyHost
}

func (a *address) setEndpoint(value string) error {
	u, err := url.Parse(value)
	if err != nil || !isEndpoint(u) {
		return errors.New("it must be http://host:port or https://host:port")
	}
	a.host, a.secure = u.Host, u.Scheme == "https"
	return nil
}

// hostOf returns the host name of a bucket of a store other than Amazon's, "" if the bucket is in the path.
func (a address) hostOf(bucket string) string {
	if a.lookup != minio.BucketLookupDNS {
		return ""
	}
	host, _, err := net.SplitHostPort(a.host)
	if err != nil { // it has no port
		host = a.host
	}
	return bucket + "." + host
}

// ofContainer lists the variables that name a role of the container or pod.
var ofContainer = []string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_WEB_IDENTITY_TOKEN_FILE"}

// credentialsOf returns the credentials of the environment, else of the user's file, else of the
// role that the environment names. It uses the role of the machine only if the address says so:
// outside of such clouds, the address of their metadata service has no server or an unrelated one.
func credentialsOf(a address) (*credentials.Credentials, error) {
	if a.anonymous {
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous), nil
	}
	own := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}})
	value, err := own.GetWithContext(nil)
	if err != nil || value.AccessKeyID != "" {
		return own, err
	}
	role := &credentials.IAM{Region: a.region}
	for _, name := range ofContainer {
		if os.Getenv(name) != "" {
			return credentials.New(role), nil
		}
	}
	if !a.machineRole {
		return nil, errors.New("there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
			"or add &machine_role=true to the address if the machine has a role")
	}
	role.Endpoint = os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	return credentials.New(role), nil
}
