package handler

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// Largest accepted bodies, in bytes.
const (
	MaxFeedBody        = 4 << 10
	MaxImpressionsBody = 256 << 10 // 500 ids of 256 characters, with room for escapes
	MaxEventsBody      = 256 << 10 // 500 events with ids of 256 characters, the same
	// MaxProfileBody admits every profile within feed's bounds whose terms are
	// one byte a character: 3,328 terms of 256 of them are 860 KB.
	MaxProfileBody = 1 << 20
	// MaxPostBody admits every post within social's bounds however its text is
	// escaped: caption, tags and ten alt texts of 12 bytes a character are 440 KB.
	MaxPostBody   = 512 << 10
	MaxAuthorBody = 64 << 10
	// MaxFollowsBody is the largest body with authors to follow, and MaxFollows how many they are.
	MaxFollowsBody = 64 << 10
	MaxFollows     = 100
	MaxCircleBody  = 1 << 20 // 5,000 members of 128 characters are 655 KB
	// MaxItemsBody bounds an upload twice: as sent and as unpacked.
	MaxItemsBody = 64 << 20
)

// MaxImpressions is how many items one report may name.
const MaxImpressions = 500

// MaxEvents is how many events one call may bring.
const MaxEvents = 500

// MaxList is how many entries a page of a list by id may have; defaultList where it
// does not say.
const (
	MaxList     = 1000
	defaultList = 100
)

// The ways of identifying callers.
const (
	ModeHeader = "header" // X-Agent-ID, set by a gateway that is trusted
	ModeJWT    = "jwt"    // the subject of a Bearer token
)

// Config tunes the HTTP interface. The zero value of a field takes its default.
type Config struct {
	RequestTimeout time.Duration // every route but uploads; default 5s
	UploadTimeout  time.Duration // POST /v1/items, the arrival of its body included; default 10m
	// MaxInFlight limits the agents' calls that are processed at once, over all
	// agents; more are answered 50301 right away. 0: no limit.
	MaxInFlight int
	// MaxUploads limits the uploads that are read at once; default 4. More are
	// answered 50301.
	MaxUploads int
	// RateLimit is how many calls a second one agent may make; more are answered
	// 42901. As many of them may come at once. 0: no limit.
	RateLimit float64
	CORS      CORS
	Version   string // of the server, in the OpenAPI document
	Auth      Auth
	Clock     feed.Clock // decides when a token has expired; default time.Now
}

// Auth says who may call.
type Auth struct {
	Mode string // ModeHeader (default) or ModeJWT
	// AdminToken opens the admin routes; "": they answer 40301.
	AdminToken string
	// Demo opens the admin routes to callers on this machine while AdminToken
	// is empty.
	Demo bool
	JWT  JWT
	// Current returns the secrets by now, where they are in files that change; nil: those
	// above hold. It must be cheap, and safe for concurrent use.
	Current func() Secrets
}

// Secrets are the secrets that callers are known by.
type Secrets struct {
	Admin string // [Auth.AdminToken]
	JWT   string // [JWT.Secret]
}

// secrets returns those that hold now.
func (a Auth) secrets() Secrets {
	if a.Current != nil {
		return a.Current()
	}
	return Secrets{Admin: a.AdminToken, JWT: a.JWT.Secret}
}

// JWT says which tokens ModeJWT accepts. Exactly one of Secret and JWKS is
// set.
type JWT struct {
	Secret   string        // HS256
	JWKS     string        // path of a JSON Web Key Set with public keys: RS256, ES256
	Issuer   string        // "": any
	Audience string        // "": any
	Claim    string        // names the agent; default "sub"
	Leeway   time.Duration // how far clocks may differ; default [feed.MaxClockSkew]
}

// WithDefaults fills in what was left zero.
func (c Config) WithDefaults() Config {
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 5*time.Second)
	c.UploadTimeout = cmp.Or(c.UploadTimeout, 10*time.Minute)
	c.MaxUploads = cmp.Or(c.MaxUploads, 4)
	c.Auth.Mode = cmp.Or(c.Auth.Mode, ModeHeader)
	c.Auth.JWT.Leeway = cmp.Or(c.Auth.JWT.Leeway, feed.MaxClockSkew)
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}

// Validate says what is wrong with how callers are told apart. The bounds of the numbers are
// the configuration's.
func (c Config) Validate() error {
	j := c.Auth.JWT
	switch {
	case c.CORS.Credentials && slices.Contains(c.CORS.Origins, "*"):
		return errors.New("CORS must not allow credentials to all origins")
	case c.Auth.Mode != ModeHeader && c.Auth.Mode != ModeJWT:
		return fmt.Errorf("auth.mode must be %s or %s, not %q", ModeHeader, ModeJWT, c.Auth.Mode)
	case c.Auth.Mode == ModeJWT && (j.Secret == "") == (j.JWKS == ""):
		return errors.New("auth.mode jwt needs exactly one of auth.jwt.secret and auth.jwt.jwks")
	}
	return nil
}
