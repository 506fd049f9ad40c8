package testenv

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Forward returns a handler that forwards each request to the server at address, and each response
// through edit, which may be nil. A body is read to its end first: a ReverseProxy that is still
// reading it when the response arrives may lose the connection, and with it the response
// (https://github.com/golang/go/issues/40747).
func Forward(t testing.TB, address string, edit func(*http.Response) error) http.Handler {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = edit
	proxy.Transport = &http.Transport{DisableKeepAlives: true} // a request is not sent again if a kept connection has ended
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
}
