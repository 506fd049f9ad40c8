package connect

import (
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

// Proxy returns the proxy through which calls to the address of a service go, as HTTP_PROXY, HTTPS_PROXY
// and NO_PROXY say, and "" if they go there directly. It contains no credentials.
func Proxy(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	proxy, err := httpproxy.FromEnvironment().ProxyFunc()(u)
	if err != nil || proxy == nil {
		return ""
	}
	return proxy.Scheme + "://" + proxy.Host
}
