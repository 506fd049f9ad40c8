package handler

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/freshet/freshet/feed"
)

// authenticator tells who calls.
type authenticator struct {
	tokens   *verifier // nil in header mode
	adminSum [sha256.Size]byte
	hasAdmin bool
	demo     bool
	origins  *http.CrossOriginProtection
}

func newAuthenticator(cfg Config, log *slog.Logger) (*authenticator, error) {
	a := &authenticator{demo: cfg.Auth.Demo, origins: http.NewCrossOriginProtection()}
	if cfg.Auth.AdminToken != "" {
		a.hasAdmin, a.adminSum = true, sha256.Sum256([]byte(cfg.Auth.AdminToken))
	}
	if cfg.Auth.Mode == ModeJWT {
		var err error
		if a.tokens, err = newVerifier(cfg.Auth.JWT, cfg.Clock, log); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// agent is who the call says it is for. Errors: 40101 where it does not say or
// cannot prove it, [feed.ErrBadID] where what a gateway says is no agent id.
func (a *authenticator) agent(r *http.Request) (string, error) {
	if a.tokens != nil {
		token, ok := bearer(r)
		if !ok {
			return "", fmt.Errorf("%w: send Authorization: Bearer with a token", errUnauthenticated)
		}
		return a.tokens.agent(r.Context(), token)
	}
	values := r.Header["X-Agent-Id"]
	if len(values) == 0 || len(values) == 1 && values[0] == "" {
		return "", fmt.Errorf("%w: the X-Agent-ID header is missing", errUnauthenticated)
	}
	// A gateway that adds its header to the caller's must not be mistaken for
	// one that replaces it.
	if len(values) > 1 {
		return "", fmt.Errorf("%w: X-Agent-ID is there %d times", feed.ErrBadID, len(values))
	}
	return values[0], feed.CheckAgentID(values[0])
}

// admin is nil for a caller who may use the admin routes.
func (a *authenticator) admin(r *http.Request) error {
	presented := ""
	if values := r.Header["X-Admin-Token"]; len(values) == 1 {
		presented = values[0]
	}
	token, hasBearer := bearer(r)
	if !a.hasAdmin {
		if a.demo && a.local(r) {
			return nil
		}
		return fmt.Errorf("%w: admin routes are closed while auth.admin_token is not set", errForbidden)
	}
	if a.isAdmin(presented) || hasBearer && a.isAdmin(token) {
		return nil
	}
	// Whoever has proved to be an agent is known, and is no admin.
	if presented == "" && (a.tokens != nil || !hasBearer) {
		if _, err := a.agent(r); err == nil {
			return fmt.Errorf("%w: this route needs the admin token", errForbidden)
		}
	}
	return fmt.Errorf("%w: this route needs the admin token, as Authorization: Bearer or X-Admin-Token", errUnauthenticated)
}

// isAdmin compares sums, so that neither the time nor the length tells anything
// of the token.
func (a *authenticator) isAdmin(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], a.adminSum[:]) == 1
}

// profile is nil for a caller who may touch the profile of agent: an admin, or
// that agent. It returns the calling agent, "" for an admin.
func (a *authenticator) profile(r *http.Request, agent string) (string, error) {
	if a.admin(r) == nil {
		return "", nil
	}
	caller, err := a.agent(r)
	if err != nil {
		return "", err
	}
	if caller != agent {
		return caller, fmt.Errorf("%w: an agent may touch its own profile only", errForbidden)
	}
	return caller, nil
}

// bearer is the token of the Authorization header; ok is false where there is
// no such header or it has another scheme. Of two headers neither counts: what
// stands before this server may have looked at the other one.
func bearer(r *http.Request) (token string, ok bool) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	return strings.TrimSpace(token), found && strings.EqualFold(scheme, "bearer")
}

// local reports whether the call comes from this machine and from a program its
// user runs. The peer's address decides. The rest only takes away: a forwarded
// call is somebody else's, and a web page of another site must not reach the
// admin routes through the user's browser, be it by a cross-site request or by
// a host name that was made to point here. Reads count as writes do: such a page
// does not get to see the answer, but an explanation or a profile costs as much
// whoever asked for it.
func (a *authenticator) local(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return false
	}
	for name := range r.Header {
		if forwards(name) {
			return false
		}
	}
	asked := r.WithContext(r.Context())
	asked.Method = http.MethodPost // of what is asked with GET the check lets everything pass
	return localHost(r.Host) && a.origins.Check(asked) == nil
}

// forwards reports whether a header is one that proxies add.
func forwards(name string) bool {
	switch name {
	case "Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip":
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded-") || strings.HasPrefix(name, "X-Original-")
}

func localHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}
