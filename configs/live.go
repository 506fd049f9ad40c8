package configs

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed/api"
)

// effect says when a changed value of a setting takes effect in a running server.
type effect int

const (
	// atRestart: when the server starts again.
	atRestart effect = iota + 1
	// atReload: when the server reloads its configuration.
	atReload
	// fromFile: within a second, without a reload, if the value is in a file that a variable …_FILE
	// names (of an address only user and password); otherwise at a restart.
	fromFile
)

// effects has every setting.
var effects = map[string]effect{
	"server.addr":             atRestart,
	"server.request_timeout":  atRestart, // the timeouts of all clients are shares of it
	"server.drain":            atReload,
	"server.shutdown_timeout": atReload,
	"server.max_in_flight":    atReload,
	"server.rate_limit":       atReload,
	"server.cors.origins":     atReload,
	"data_dir":                atRestart,

	"auth.mode":            atRestart,
	"auth.trusted_gateway": atRestart,
	"auth.admin_token":     fromFile,
	"auth.jwt.secret":      fromFile,
	"auth.jwt.jwks":        atRestart, // its contents are read again by themselves
	"auth.jwt.issuer":      atRestart,
	"auth.jwt.audience":    atRestart,
	"auth.jwt.claim":       atRestart,

	"catalog.group_by":          atRestart,
	"catalog.retention":         atRestart,
	"recall.from":               atRestart,
	"recall.n":                  atRestart,
	"ranking":                   atRestart, // used when a system starts with empty stores, and never after
	"popularity.half_lives":     atRestart,
	"learning.retention":        atRestart,
	"dedup.window_days":         atRestart,
	"dedup.false_positive_rate": atRestart,
	"dedup.daily_capacity":      atRestart,
	"dedup.shards":              atRestart,
	"dedup.when_exhausted":      atRestart,
	"dedup.on_failure":          atRestart,
	"sessions.ttl":              atRestart,
	"impressions.on":            atRestart,
	"social.off":                atRestart,
	"social.follows":            atRestart,
	"timeline.cap":              atRestart,
	"timeline.celebrity.at":     atRestart,
	"changes.retention":         atRestart,
	"notifications.retention":   atRestart,
	"notifications.most":        atRestart,
	"reports.retention":         atRestart,
	"home.pattern":              atRestart,
	"media.url":                 atRestart,
	"media.memory":              atReload,
	"jobs.workers":              atRestart,
	"erasures.file":             atRestart,
	"log.level":                 atReload,
	"log.format":                atRestart,

	"redis.url":           fromFile,
	"redis.password":      fromFile,
	"redis.ca_cert":       atRestart, // the contents of certificates are read again by themselves
	"redis.client_cert":   atRestart,
	"redis.client_key":    atRestart,
	"redis.key_prefix":    atRestart,
	"redis.wait_replicas": atRestart,
	"timeline.redis_url":  fromFile,
	"postgres.url":        fromFile,

	"elasticsearch.addresses":          fromFile,
	"elasticsearch.password":           fromFile,
	"elasticsearch.api_key":            fromFile,
	"elasticsearch.ca_cert":            atRestart,
	"elasticsearch.client_cert":        atRestart,
	"elasticsearch.client_key":         atRestart,
	"elasticsearch.index":              atRestart,
	"elasticsearch.manage_index":       atRestart,
	"elasticsearch.fields.id":          atRestart,
	"elasticsearch.fields.group_id":    atRestart,
	"elasticsearch.fields.title":       atRestart,
	"elasticsearch.fields.summary":     atRestart,
	"elasticsearch.fields.url":         atRestart,
	"elasticsearch.fields.image_url":   atRestart,
	"elasticsearch.fields.author_id":   atRestart,
	"elasticsearch.fields.lang":        atRestart,
	"elasticsearch.fields.tags":        atRestart,
	"elasticsearch.fields.update_time": atRestart,
	"elasticsearch.fields.likes":       atRestart,
	"elasticsearch.fields.comments":    atRestart,
}

// Reloadable returns the settings that change when a server reloads its configuration, in the order of
// [Keys].
func Reloadable() []string {
	return slices.DeleteFunc(Keys(), func(key string) bool { return effects[key] != atReload })
}

// Compare returns the settings whose values in a configuration that was just loaded differ from those
// in force, in the order of [Keys]. Values are shown as [Print] shows them. It leaves out what the
// server reads from files …_FILE by itself.
func Compare(inForce, loaded Config) []api.ConfigChange {
	changes := []api.ConfigChange{}
	for _, f := range schema {
		if f.same(&inForce, &loaded) {
			continue
		}
		change := api.ConfigChange{Key: f.key, InForce: f.shown(&inForce), Loaded: f.shown(&loaded), Effect: api.AtRestart}
		_, before := inForce.Origins[f.key]
		_, after := loaded.Origins[f.key]
		change.Unset = before && !after
		switch {
		case f.key == rankingKey: // only the parameters that differ
			change.InForce, change.Loaded = inForce.Ranking.Changes(loaded.Ranking), loaded.Ranking.Changes(inForce.Ranking)
		case effects[f.key] == atReload:
			change.Effect = api.AtReload
		}
		changes = append(changes, change)
	}
	return changes
}

// same reports whether the value in force is the loaded one, as far as a reload or a restart can change
// it.
func (f field) same(inForce, loaded *Config) bool {
	before, after := f.value(inForce), f.value(loaded)
	if effects[f.key] == fromFile && inForce.Files[f.key] != "" && inForce.Files[f.key] == loaded.Files[f.key] {
		return f.secret || slices.Equal(withoutUsers(before), withoutUsers(after))
	}
	return reflect.DeepEqual(before, after) || text(before) == text(after) // a list may be nil or empty
}

// withoutUsers returns one address, or a list of them, without users and passwords.
func withoutUsers(value any) []string {
	addresses, isList := value.([]string)
	if !isList {
		addresses = []string{fmt.Sprint(value)}
	}
	bare := make([]string, len(addresses))
	for i, address := range addresses {
		u, err := url.Parse(address)
		if err != nil { // never for an address that was checked
			return addresses
		}
		u.User = nil
		query := u.Query()
		maps.DeleteFunc(query, func(name string, _ []string) bool { return slices.Contains(userParameters, name) })
		u.RawQuery = query.Encode()
		bare[i] = u.String()
	}
	return bare
}

// userParameters are the parameters of addresses that are read again with user and password.
var userParameters = []string{"username", "password", "sslpassword"}

// shown returns the value as text for people, without secrets.
func (f field) shown(c *Config) string {
	switch v := f.value(c).(type) {
	case string:
		if f.secret && v != "" {
			return masked
		}
		return mask(v)
	case []string:
		shown := make([]string, len(v))
		for i, one := range v {
			shown[i] = mask(one)
		}
		return strings.Join(shown, ",")
	default:
		return text(v)
	}
}

// origin takes the origin of a key over.
func (c *Config) origin(key string, from map[string]Origin) {
	is, set := from[key]
	switch {
	case !set:
		delete(c.Origins, key)
	case c.Origins == nil:
		c.Origins = map[string]Origin{key: is}
	default:
		c.Origins[key] = is
	}
}

// Reloaded returns the configuration in force with those values of a loaded one that change at a reload.
// The error is a [Problems]: rules between settings may forbid the result although both are valid.
func Reloaded(inForce, loaded Config) (Config, error) {
	next := inForce
	next.Origins = maps.Clone(inForce.Origins)
	for _, f := range schema {
		if effects[f.key] == atReload {
			next.origin(f.key, loaded.Origins)
			reflect.ValueOf(&next).Elem().FieldByIndex(f.index).Set(reflect.ValueOf(f.value(&loaded)))
		}
	}
	if err := next.Validate(); err != nil {
		return inForce, fmt.Errorf("without the settings that need a restart, %w", err)
	}
	return next, nil
}
