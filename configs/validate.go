package configs

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/freshet/freshet/feed"
)

// Validate checks every key's range and the rules between keys. The error is a [Problems] with
// everything that is wrong; it names the keys and explains what to do.
func (c Config) Validate() error { return c.problems().err() }

func (c Config) problems() Problems {
	var p Problems
	p.placeholders(&c)
	if len(p) > 0 {
		return p // what else is wrong with them would only confuse
	}
	p.values(&c)
	c.Server.check(&p)
	c.Auth.check(&p, c.Server.Addr)
	if err := c.Ranking.Validate(); err != nil {
		p = append(p, rankingProblem(err, ""))
	}
	c.checkHalfLives(&p)
	rate := c.Dedup.FalsePositiveRate
	if !(rate > 0 && rate < 1) {
		p.add("dedup.false_positive_rate", "must lie between 0 and 1, both excluded, not %v", rate)
	}
	c.Redis.check(&p)
	secure := strings.HasPrefix(c.Redis.URL, "rediss://") || strings.HasPrefix(c.Timeline.RedisURL, "rediss://")
	p.certificates("redis", c.Redis.CACert, c.Redis.ClientCert, c.Redis.ClientKey, secure, "write redis.url with rediss://")
	c.Elasticsearch.check(&p)
	c.checkRetention(&p)
	if c.Recall.From == FromMemory && !c.OwnsItems() {
		p.add("recall.from", "must be elasticsearch for an index of your own (elasticsearch.manage_index: false, or other names in elasticsearch.fields): only Elasticsearch knows its analyzers")
	}
	c.checkSocial(&p)
	if c.DataDir == "" {
		p.add("data_dir", "must name a directory: the catalog and the impression journals are kept there")
	}
	if c.Erasures.File != "" && within(c.Erasures.File, c.DataDir) {
		p.add("erasures.file", "must not be within data_dir, with which it would be lost: name a file where backups are")
	}
	return p
}

// values checks each value separately: that it is allowed or within its range, and that it has nothing
// around it or in it that nobody sees. Clients and signers use a secret without the white space around it.
func (p *Problems) values(c *Config) {
	for _, f := range schema {
		v := f.value(c)
		written, _ := v.(string)
		hidden := f.hidden(v)
		switch {
		case slices.Contains(fileSettings, f.key) && noPath(written) != "":
			p.add(f.key, "%s", noPath(written))
		case hidden != "":
			p.add(f.key, "%s", hidden)
		case f.oneof != nil && !slices.Contains(f.oneof, written):
			p.add(f.key, "must be %s, not %q", orList(f.oneof), written)
		case f.least != nil && !(number(v) >= number(f.least) && number(v) <= number(f.most)): // NaN is outside
			p.add(f.key, "must be %s to %s, not %s", text(f.least), text(f.most), text(v))
		case slices.Contains(inRotation, f.key) && badLines(written) != "":
			p.add(f.key, "%s", badLines(written))
		case slices.Contains(inRotation, f.key) && strings.Contains(written, "\n"):
		case slices.Contains(inHeaders, f.key) && strings.ContainsFunc(written, unseen):
			p.add(f.key, "must not contain line breaks and other characters that cannot be seen, because it is sent in a header")
		}
	}
}

// hidden says which characters of a text nobody sees, "" if it has none. They come with what it was copied
// from, and end up in passwords, paths and names, whose errors do not show them.
func (f field) hidden(value any) string {
	texts, isList := value.([]string)
	text, isText := value.(string)
	switch {
	case isText:
		texts = []string{text}
	case !isList:
		return ""
	}
	for _, text := range texts {
		switch {
		case strings.TrimSpace(text) != text:
			return fmt.Sprintf("must not begin or end with white space, such as the newline of a file it was copied from, or the line ends of Windows (%s%s reads a file)",
				EnvName(f.key), fileSuffix)
		case !f.secret && strings.ContainsFunc(text, unseen):
			return "must not contain line breaks and other characters that cannot be seen"
		}
	}
	return ""
}

// fileSettings are the settings that name a file.
var fileSettings = []string{
	"auth.jwt.jwks", "redis.ca_cert", "redis.client_cert", "redis.client_key",
	"elasticsearch.ca_cert", "elasticsearch.client_cert", "elasticsearch.client_key",
}

// noPath says why a text cannot be the path of a file, "" if it can. It repeats nothing of the text, which may
// be a private key.
func noPath(text string) string {
	switch {
	case strings.HasPrefix(strings.TrimSpace(text), "-----BEGIN"), strings.HasPrefix(strings.TrimSpace(text), "{"):
		return "must name a file, and has the content of one: write that into a file"
	case strings.Contains(text, "://"):
		return "must name a file, and is a URL: fetch what is there into a file, and replace the file when that changes"
	}
	return ""
}

// inHeaders are the secrets that calls send in a header.
var inHeaders = []string{"auth.admin_token", "elasticsearch.api_key"}

// inRotation are the secrets of callers that may have two lines, a new one and the one before: both are
// accepted, so that no call fails while callers change from one to the other. See [Lines].
var inRotation = []string{"auth.admin_token", "auth.jwt.secret"}

// leastLine is the minimum length of a line of two, in bytes. Shorter ones are rather one secret that was
// broken in two.
const leastLine = 16

// badLines says what is wrong with the lines of a secret in rotation, "" if it has one line, or nothing is.
func badLines(text string) string {
	lines := Lines(text)
	if len(lines) == 1 {
		return ""
	}
	bad := func(line string) bool {
		return len(line) < leastLine || strings.TrimSpace(line) != line || strings.ContainsFunc(line, unseen)
	}
	if len(lines) > 2 || slices.ContainsFunc(lines, bad) {
		return fmt.Sprintf("must not contain line breaks and other characters that cannot be seen, but for one line break, "+
			"between the new one and the one before, each of %d characters or more", leastLine)
	}
	return ""
}

// Lines returns the lines of auth.admin_token or auth.jwt.secret: the one to use, and after it the one
// before, if that is still accepted.
func Lines(secret string) []string { return strings.Split(secret, "\n") }

// unseen reports whether a character is not seen, such as a line break or a mark of width zero.
func unseen(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// number returns a numeric value as a float64.
func number(v any) float64 {
	r := reflect.ValueOf(v)
	if r.CanInt() {
		return float64(r.Int())
	}
	return r.Float()
}

// certificates checks the combination of certificate files for connections to a service.
func (p *Problems) certificates(section, ca, cert, key string, secure bool, where string) {
	if (cert == "") != (key == "") {
		p.add(section+".client_cert", "and %s.client_key belong together: give both or none", section)
	}
	if !secure && (ca != "" || cert != "") {
		p.add(section+".ca_cert", "and %s.client_cert are for connections with TLS: %s", section, where)
	}
}

func orList(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// minRetention prevents a typing error, such as 72 instead of 72h, from emptying a catalog.
const minRetention = time.Hour

// OwnsItems reports whether the items are in a file or an index that belongs to Freshet: others
// write and delete in theirs.
func (c Config) OwnsItems() bool {
	return !c.UsesElasticsearch() || c.Elasticsearch.ManageIndex && c.Elasticsearch.Fields == defaultFields()
}

func (c Config) checkHalfLives(p *Problems) {
	keep, err := feed.HalfLivesOf(c.Popularity.HalfLives)
	if err != nil {
		p.add("popularity.half_lives", "%s", err)
		return
	}
	if err := keep.Check(c.Ranking); err != nil {
		*p = append(*p, rankingProblem(err, ""))
	}
}

// minPersonal is the least time that what is learned, and reports, are kept, for the same reason.
const minPersonal = 24 * time.Hour

func (c Config) checkRetention(p *Problems) {
	personal := func(key string, keep time.Duration) {
		if keep != 0 && keep < minPersonal {
			p.add(key, "must be 0 (for ever) or at least %s, not %s", minPersonal, keep)
		}
	}
	personal("learning.retention", c.Learning.Retention)
	personal("reports.retention", c.Reports.Retention)
	const key = "catalog.retention"
	switch keep := c.Catalog.Retention; {
	case keep == 0:
	case keep < minRetention:
		p.add(key, "must be 0 (items stay) or at least %s, not %s", minRetention, keep)
	case c.UsesElasticsearch() && !c.Elasticsearch.ManageIndex:
		p.add(key, "must be 0 with elasticsearch.manage_index: false: Freshet does not sweep an index that is not its own; delete old documents where they come from")
	case c.UsesElasticsearch() && c.Elasticsearch.Fields != defaultFields():
		p.add(key, "must be 0 where elasticsearch.fields name others than Freshet's own: Freshet does not sweep an index that is not its own; delete old documents where they come from")
	}
}

func (s Server) check(p *Problems) {
	problem := hostPort(s.Addr, true)
	if problem != "" {
		p.add("server.addr", "%s", problem)
	}
	for _, o := range s.CORSOrigins {
		switch problem := badOrigin(o); {
		case o == "*" && len(s.CORSOrigins) > 1:
			p.add("server.cors.origins", "must be * alone or a list without it: * allows every origin")
		case o != "*" && problem != "":
			p.add("server.cors.origins", "%s", problem)
		}
	}
}

// hostPort returns what is wrong with an address, or ""; listen allows an empty host (every
// address) and port 0 (any free one).
func hostPort(addr string, listen bool) string {
	examples := "redis-1:6379 or [fd00::1]:6379"
	if listen {
		examples = "127.0.0.1:8080 or [::1]:8080"
	}
	form := "must be host:port, such as " + examples + ", not " + strconv.Quote(mask(addr))
	host, port, err := net.SplitHostPort(addr)
	lacksHost := host == "" && !listen
	if err != nil || lacksHost || strings.ContainsAny(host, "/@ ") {
		return form
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || !listen && n == 0 {
		return form
	}
	return ""
}

// Loopback reports whether the address is reachable only from this machine.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// tokenForm is the pattern by which the gateway of docs/production.md recognizes a reader's token.
var tokenForm = regexp.MustCompile(`^[\w-]+\.[\w-]+\.[\w-]+$`)

// leastHS256 is the minimum length of a secret of HS256 tokens, in bytes: that of its hash (RFC
// 7518, section 3.2).
const leastHS256 = 32

func (a Auth) check(p *Problems, addr string) {
	switch a.Mode {
	case ModeHeader:
		if !a.TrustedGateway && !Loopback(addr) {
			p.add("auth.mode", "header would trust anyone who can reach server.addr %q: listen on 127.0.0.1, use auth.mode jwt, "+
				"or set auth.trusted_gateway true when only a gateway that sets X-Agent-ID can reach it", addr)
		}
	case ModeJWT:
		if a.JWT.Secret == "" && a.JWT.JWKS == "" {
			p.add("auth.jwt", "needs a key to verify tokens with: set auth.jwt.secret (HS256) or auth.jwt.jwks (a file with RS256 or ES256 keys)")
		}
		for _, line := range Lines(a.JWT.Secret) {
			n := len(line)
			if n > 0 && n < leastHS256 {
				p.add("auth.jwt.secret", "must have %d bytes or more, not %d: anyone who can guess it can act as any agent; make one with openssl rand -hex 32", leastHS256, n)
			}
		}
		if a.JWT.Secret != "" && a.JWT.JWKS != "" {
			p.add("auth.jwt", "has two keys to verify tokens with: keep one of auth.jwt.secret and auth.jwt.jwks")
		}
		if a.JWT.Claim == "" {
			p.add("auth.jwt.claim", "must name the claim of tokens that is the agent, such as sub")
		}
		if slices.ContainsFunc(Lines(a.AdminToken), tokenForm.MatchString) {
			p.add("auth.admin_token", "must not have the form of a JWT, three parts with dots between: gateways let those pass; make one with openssl rand -hex 32")
		}
	}
}

func (r Redis) check(p *Problems) {
	if r.URL != "" {
		_, problem := parseRedisURL(r.URL)
		if problem != "" {
			p.add("redis.url", "%s", problem)
		}
	} else if r.Password != "" {
		p.add("redis.url", "must say where Redis is, because there is a redis.password")
	}
	if strings.ContainsAny(r.KeyPrefix, "{} \t\r\n") {
		p.add("redis.key_prefix", "must not hold braces or white space, not %q: braces would move every key of a cluster to one slot", r.KeyPrefix)
	}
}

func (e Elasticsearch) check(p *Problems) {
	for i, addr := range e.Addresses {
		u, err := url.Parse(addr)
		if err != nil || !isServer(u, "http", "https") {
			p.add("elasticsearch.addresses", "must be URLs such as http://127.0.0.1:9200, not %s; in a user or password, %s", e.shown(i), inUsers)
		}
	}
	withUser := slices.ContainsFunc(e.Addresses, func(addr string) bool {
		u, err := url.Parse(addr)
		return err == nil && u.User != nil
	})
	switch {
	case e.APIKey != "" && (withUser || e.Password != ""):
		p.add("elasticsearch.api_key", "and a user and password exclude each other: keep one")
	case e.Password != "" && !withUser && len(e.Addresses) > 0:
		p.add("elasticsearch.password", "needs its user in elasticsearch.addresses: https://user@host:port")
	case (e.Password != "" || e.APIKey != "") && len(e.Addresses) == 0:
		p.add("elasticsearch.addresses", "must say where Elasticsearch is, because there is a password or an API key for it")
	}
	if strings.Contains(e.APIKey, ":") {
		p.add("elasticsearch.api_key", "must be the encoded key, as the value encoded of the answer that created it, and not the id and the key with a colon between")
	}
	secure := slices.ContainsFunc(e.Addresses, func(addr string) bool { return strings.HasPrefix(addr, "https://") })
	p.certificates("elasticsearch", e.CACert, e.ClientCert, e.ClientKey, secure, "write elasticsearch.addresses with https://")
	problem := indexName(e.Index)
	if problem != "" {
		p.add("elasticsearch.index", "%s", problem)
	}
	for key, name := range map[string]string{"id": e.Fields.ID, "title": e.Fields.Title, "update_time": e.Fields.UpdateTime} {
		if name == "" {
			p.add("elasticsearch.fields."+key, "must name a field of the index: Freshet cannot do without it")
		}
	}
}

// shown returns an address for a message. If one has a user, it returns only its number: a comma in a
// password splits the password over several.
func (e Elasticsearch) shown(i int) string {
	if slices.ContainsFunc(e.Addresses, func(addr string) bool { return strings.Contains(addr, "@") }) {
		return fmt.Sprintf("number %d of the list", i+1)
	}
	return strconv.Quote(mask(e.Addresses[i]))
}

// indexName checks Elasticsearch's rules for index names, leaving space for the "-agents" of the
// profile index.
func indexName(name string) string {
	switch {
	case name == "" || len(name) > 240:
		return "must have 1 to 240 characters"
	case strings.ToLower(name) != name:
		return fmt.Sprintf("must be in lower case, not %q", name)
	case strings.ContainsAny(name, "\\/*?\"<>| ,#:") || strings.ContainsAny(name[:1], "-_+.") || strings.ContainsAny(name, "\t\r\n"):
		return fmt.Sprintf("must not begin with - _ + . nor hold white space or any of \\ / * ? \" < > | , # :, as %q does", name)
	}
	return ""
}

// hasDefaultPort reports whether a URL contains the port that its scheme has without it.
func hasDefaultPort(u *url.URL) bool {
	switch u.Scheme {
	case "http":
		return u.Port() == "80"
	case "https":
		return u.Port() == "443"
	}
	return false
}

// badOrigin returns what is wrong with an origin, or "". Browsers send origins without a path and
// without the scheme's default port, and origins are compared as a whole.
func badOrigin(origin string) string {
	u, err := url.Parse(origin)
	switch {
	case err != nil, u.Scheme == "", u.Host == "", u.User != nil:
		return fmt.Sprintf("must be origins such as https://app.example.com, not %q", mask(origin))
	case strings.ContainsFunc(origin, func(r rune) bool { return r > unicode.MaxASCII }):
		return fmt.Sprintf("must be origins as browsers send them: write the host of %q in its ASCII form, xn--…", origin)
	case strings.Contains(origin, "*"):
		return fmt.Sprintf("must be exact origins, or * alone: %q has a * within it", origin)
	case origin != strings.ToLower(u.Scheme+"://"+u.Host):
		return fmt.Sprintf("must be origins without a path and in lower case: %s instead of %q", strings.ToLower(u.Scheme+"://"+u.Host), origin)
	case hasDefaultPort(u) || strings.HasSuffix(u.Host, ":"):
		return fmt.Sprintf("must be origins as browsers write them: %s://%s instead of %q", u.Scheme, strings.TrimSuffix(u.Host, ":"+u.Port()), origin)
	}
	return ""
}

// within reports whether a file is in a directory or below it. Symbolic links are not followed.
func within(file, dir string) bool {
	file, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}
