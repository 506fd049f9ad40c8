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
	MaxEventsBody      = 256 << 10 // 500 events with ids of 256 characters, with room for escapes
	// MaxProfileBody fits every valid profile in single-byte characters: 2,328 terms of 256 of
	// them are 600 KB, and 10,000 muted items 560 KB.
	MaxProfileBody = 2 << 20
	// MaxPostBody fits every valid post however its text is escaped: caption, tags and ten alt
	// texts of 12 bytes per character are 440 KB.
	MaxPostBody   = 512 << 10
	MaxAuthorBody = 64 << 10
	// MaxFollowsBody is the largest body with authors to follow, and MaxFollows the number of
	// authors in it.
	MaxFollowsBody = 64 << 10
	MaxFollows     = 100
	// MaxCardsBody is the largest body with authors whose cards are read, and MaxCards the number of
	// them.
	MaxCardsBody  = 64 << 10
	MaxCards      = 100
	MaxCircleBody = 1 << 20 // 5,000 members of 128 characters are 655 KB
	// MaxItemsBody bounds an upload both as sent and as unpacked.
	MaxItemsBody = 64 << 20
)

// MaxImpressions is the maximum number of items in one report.
const MaxImpressions = 500

// MaxEvents is the maximum number of events in one call.
const MaxEvents = 500

// MaxList is the maximum page size of a list by id, and defaultList the default.
const (
	MaxList     = 1000
	defaultList = 100
)

// The ways of identifying callers.
const (
	ModeHeader = "header" // X-Agent-ID, set by a trusted gateway
	ModeJWT    = "jwt"    // the subject of a Bearer token
)

// Config configures the HTTP interface. A zero field means its default.
type Config struct {
	RequestTimeout time.Duration // for most routes; default 5s. Uploads, images, comparisons and replays have other timeouts
	UploadTimeout  time.Duration // for uploads, including the transfer of the body; default 10m
	// MaxUploads limits the uploads read concurrently; default 4. Excess calls are answered
	// 50301.
	MaxUploads int
	Adjustable
	Version string // the server's version, in the OpenAPI document
	Auth    Auth
	Clock   feed.Clock // for token expiry, among other things; default time.Now
}

// Auth configures authentication.
type Auth struct {
	Mode string // ModeHeader (default) or ModeJWT
	// AdminToken opens the admin routes; while it is "" they answer 40301.
	AdminToken string
	// Demo opens the admin routes to callers on this machine if AdminToken is empty.
	Demo bool
	JWT  JWT
	// Current returns the current secrets if they are in files that change; nil means the fields
	// above. It must be cheap, and safe for concurrent use.
	Current func() Secrets
}

// Secrets are the secrets that authenticate callers. Each may have two lines, a new one and the one
// before, which are both accepted.
type Secrets struct {
	Admin string // [Auth.AdminToken]
	JWT   string // [JWT.Secret]
}

// secrets returns the current secrets.
func (a Auth) secrets() Secrets {
	if a.Current != nil {
		return a.Current()
	}
	return Secrets{Admin: a.AdminToken, JWT: a.JWT.Secret}
}

// JWT configures the tokens that ModeJWT accepts. Exactly one of Secret and JWKS is set.
type JWT struct {
	Secret   string        // HS256
	JWKS     string        // path of a JSON Web Key Set with public keys: RS256, ES256
	Issuer   string        // "" accepts any
	Audience string        // "" accepts any
	Claim    string        // claim that names the agent; default "sub"
	Leeway   time.Duration // tolerated clock difference; default [feed.MaxClockSkew]
}

// WithDefaults returns the configuration with defaults in place of zero fields.
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

// Validate checks the authentication and CORS settings. The configuration checks the bounds of
// the numbers.
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
