package handler

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// authenticator identifies callers.
type authenticator struct {
	tokens   *verifier // nil in header mode
	secrets  func() Secrets
	hasAdmin bool
	demo     bool
	origins  *http.CrossOriginProtection        // trusts our own pages only
	pages    func() *http.CrossOriginProtection // also trusts the pages of server.cors.origins
	erased   func(agent string) int64           // see [Deps]; nil if it is not known
}

func newAuthenticator(cfg Config, pages func() *http.CrossOriginProtection, erased func(agent string) int64, log *slog.Logger) (*authenticator, error) {
	a := &authenticator{secrets: cfg.Auth.secrets, hasAdmin: cfg.Auth.AdminToken != "", demo: cfg.Auth.Demo, erased: erased, origins: http.NewCrossOriginProtection(), pages: pages}
	if cfg.Auth.Mode == ModeJWT {
		var err error
		if a.tokens, err = newVerifier(cfg.Auth, cfg.Clock, log); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// agent returns the calling agent. The error is 40101 if the call has no valid credentials, or
// wraps [feed.ErrBadID] if X-Agent-ID is not an agent id.
func (a *authenticator) agent(r *http.Request) (string, error) {
	if a.tokens != nil {
		token, ok := bearer(r)
		if !ok {
			return "", fmt.Errorf("%w: send Authorization: Bearer with a token", feed.ErrUnauthenticated)
		}
		agent, issued, err := a.tokens.agent(r.Context(), token)
		if err == nil && !repeatsErasure(r.Context()) {
			err = a.notErased(agent, issued)
		}
		if err != nil {
			return "", err
		}
		return agent, nil
	}
	values := r.Header["X-Agent-Id"]
	if len(values) == 0 || len(values) == 1 && values[0] == "" {
		return "", fmt.Errorf("%w: the X-Agent-ID header is missing", feed.ErrUnauthenticated)
	}
	// One of two headers may come from the caller: a gateway must replace the header, not add
	// one.
	if len(values) > 1 {
		return "", fmt.Errorf("%w: X-Agent-ID is sent %d times; send it once", feed.ErrBadID, len(values))
	}
	return values[0], feed.CheckAgentID(values[0])
}

// notErased fails if an agent was erased after its token was issued, in Unix seconds: another may have the id now.
func (a *authenticator) notErased(agent string, issued int64) error {
	if a.erased == nil {
		return nil
	}
	return social.Actor{Agent: agent, Token: true, Issued: issued}.Check(0, 0, "", a.erased(agent))
}

// ended returns a function that reports whether the credentials that [authenticator.agent] accepted are from before
// an erasure by now; nil if they never are.
func (a *authenticator) ended(r *http.Request, agent string) func() bool {
	if a.tokens == nil || a.erased == nil {
		return nil
	}
	token, _ := bearer(r)
	issued := a.tokens.issued(token)
	return func() bool { return a.notErased(agent, issued) != nil }
}

type repeatedErasure struct{}

// repeatsErasure reports whether a call is an erasure, which a token from before it may repeat: [server.checkEraser]
// decides.
func repeatsErasure(ctx context.Context) bool { return ctx.Value(repeatedErasure{}) != nil }

// eraser returns the agent in the path, which must be the caller unless that is an admin, for its erasure.
func (s *server) eraser(c *call) (string, error) {
	r := c.gin.Request
	c.gin.Request = r.WithContext(context.WithValue(r.Context(), repeatedErasure{}, true))
	return s.owner("agent_id")(c)
}

// until returns when the credentials that [authenticator.agent] accepted expire; the zero time
// means never.
func (a *authenticator) until(r *http.Request) (time.Time, error) {
	if a.tokens == nil {
		return time.Time{}, nil
	}
	token, _ := bearer(r)
	return a.tokens.until(token)
}

// checkOrigin rejects changes from pages of other sites. A gateway may identify callers by a
// cookie, which browsers also send with forms of other sites. In jwt mode callers are identified
// by a token, which only the app sends.
func (a *authenticator) checkOrigin(r *http.Request) error {
	if a.tokens == nil && a.pages().Check(r) != nil {
		return fmt.Errorf("%w: cross-site requests must not change anything; add the origin to server.cors.origins, and make the gateway forward Host unchanged", feed.ErrForbidden)
	}
	return nil
}

// checkShown is checkOrigin for a GET whose items are recorded as shown. An image on a page of
// another site is enough to send such a request.
func (a *authenticator) checkShown(r *http.Request) error {
	acting := *r
	acting.Method = http.MethodPost
	return a.checkOrigin(&acting)
}

// reader returns the calling agent, "" for an anonymous call. Errors are those of agent.
func (a *authenticator) reader(r *http.Request) (string, error) {
	if a.tokens == nil {
		values := r.Header["X-Agent-Id"]
		if len(values) == 0 || len(values) == 1 && values[0] == "" {
			return "", nil
		}
		return a.agent(r)
	}
	if len(r.Header["Authorization"]) == 0 {
		return "", nil
	}
	if token, ok := bearer(r); ok && a.hasAdmin && a.isAdmin(token) {
		return "", nil // an admin call has no reader
	}
	return a.agent(r)
}

// changer returns the calling agent, "" for an admin. A demo accepts every caller on its machine
// as an admin, so a caller who names an agent there acts as that agent.
func (a *authenticator) changer(r *http.Request) (string, error) {
	if a.hasAdmin && a.admin(r) == nil {
		return "", nil
	}
	agent, err := a.reader(r)
	if err != nil || agent != "" {
		return agent, err
	}
	if a.admin(r) == nil {
		return "", nil
	}
	return a.agent(r)
}

// admin returns nil if the caller may use the admin routes.
func (a *authenticator) admin(r *http.Request) error {
	presented := ""
	values := r.Header["X-Admin-Token"]
	if len(values) == 1 {
		presented = values[0]
	}
	token, hasBearer := bearer(r)
	if !a.hasAdmin {
		if a.demo && a.local(r) {
			return nil
		}
		return fmt.Errorf("%w: admin routes are disabled; set auth.admin_token to use them", feed.ErrForbidden)
	}
	if a.isAdmin(presented) || hasBearer && a.isAdmin(token) {
		return nil
	}
	// An authenticated agent that is not an admin gets 403, not 401.
	if presented == "" && (a.tokens != nil || !hasBearer) {
		if _, err := a.agent(r); err == nil {
			return fmt.Errorf("%w: this route needs the admin token", feed.ErrForbidden)
		}
	}
	return fmt.Errorf("%w: this route needs the admin token, as Authorization: Bearer or X-Admin-Token", feed.ErrUnauthenticated)
}

// isAdmin compares hashes in constant time, so that timing reveals neither the content nor the
// length of the token.
func (a *authenticator) isAdmin(token string) bool {
	sum, found := sha256.Sum256([]byte(token)), 0
	for line := range strings.SplitSeq(a.secrets().Admin, "\n") {
		admin := sha256.Sum256([]byte(line))
		if line != "" {
			found |= subtle.ConstantTimeCompare(sum[:], admin[:])
		}
	}
	return found == 1
}

// bearer returns the token of the Authorization header, if present. If there are two headers it
// returns none: a gateway may have checked the other one.
func bearer(r *http.Request) (token string, ok bool) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	return strings.TrimSpace(token), found && strings.EqualFold(scheme, "bearer")
}

// local reports whether the caller is a program on this machine. It rejects forwarded calls and
// calls from web pages of other sites, by cross-site request or DNS rebinding. That includes
// reads: such a page cannot see the answer, but it can cause the work.
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
	asked.Method = http.MethodPost // the check passes every GET
	return localHost(r.Host) && a.origins.Check(asked) == nil
}

// forwards reports whether a header of this name is added by proxies.
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
