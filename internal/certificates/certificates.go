// Package certificates says why the certificate of a service is not accepted, and what to do about it.
package certificates

import (
	"crypto/x509"
	"errors"
	"strings"
)

// Fault describes a certificate that is not accepted.
type Fault struct {
	Cause  string // of "the service is down", without addresses and names
	Advice string // what to do
}

// Check returns what is wrong with the certificate that err is about, and false if err is about
// something else. authority is the setting that names the trusted authorities.
func Check(err error, authority string) (Fault, bool) {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &unknown):
		return Fault{
			Cause:  "its certificate is signed by an unknown authority",
			Advice: "name the authority that signed the server's certificate in " + authority,
		}, true
	case errors.As(err, &hostname):
		return checkHost(hostname.Certificate), true
	case errors.As(err, &invalid):
		return checkValidity(invalid), true
	}
	return Fault{}, false
}

// checkHost judges a certificate that is not for the host of the address.
func checkHost(c *x509.Certificate) Fault {
	if c != nil && len(c.DNSNames)+len(c.IPAddresses) == 0 {
		return Fault{
			Cause:  "its certificate has no subject alternative name",
			Advice: "have the server's certificate issued again with the host of the address as a subject alternative name (subjectAltName): its Common Name does not count",
		}
	}
	return Fault{
		Cause:  "its certificate is for another host",
		Advice: "name the host as the server's certificate does",
	}
}

// checkValidity judges a certificate that is not valid now, or for another reason that it contains.
func checkValidity(invalid x509.CertificateInvalidError) Fault {
	switch {
	case invalid.Reason != x509.Expired:
		return Fault{
			Cause:  "its certificate is not valid",
			Advice: "have the server's certificate issued again; the message says what is wrong with it",
		}
	case strings.Contains(invalid.Detail, "is before"): // the certificate may be of an authority in the chain
		return Fault{
			Cause:  "its certificate is not valid yet",
			Advice: "correct the clock of this machine; if it is right, wait until the server's certificate is valid",
		}
	}
	return Fault{Cause: "its certificate has expired", Advice: "renew the server's certificate"}
}
