package configs

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// RedisServer is the location of a Redis: one server, a master that Sentinels watch, or a cluster.
type RedisServer struct {
	Addrs      []string // host:port of the server, of the Sentinels, or of some cluster nodes
	Username   string
	Password   string
	DB         int
	TLS        bool
	MasterName string // name of the master that the Sentinels watch; "" for no Sentinels
	// The Sentinels have separate users.
	SentinelUsername string
	SentinelPassword string
}

// Server returns the location of the Redis from the URL, which must be valid.
func (r Redis) Server() RedisServer {
	s, _ := parseRedisURL(r.URL)
	s.Password = cmp.Or(s.Password, r.Password)
	return s
}

const (
	redisPort    = "6379"
	sentinelPort = "26379"
	maxDB        = 16383
)

// inUsers explains how to escape a user or password in a URL.
const inUsers = "characters such as @ : / ? # % , are written %40 and so on"

// lateUser reports whether a URL has an @ after its host: then a user or password is not escaped
// and was parsed as a host and a path.
func lateUser(u *url.URL) bool {
	return strings.Contains(u.Path, "@") || strings.Contains(u.RawQuery, "@") || strings.Contains(u.Fragment, "@")
}

// isServer reports whether a URL has a host, one of the schemes, and no user after the host.
func isServer(u *url.URL, schemes ...string) bool {
	return slices.Contains(schemes, u.Scheme) && u.Host != "" && !lateUser(u)
}

func isRedis(u *url.URL) bool {
	return isServer(u, "redis", "rediss") && u.Hostname() != "" && u.Fragment == ""
}

// redisParams are the parameters of a Redis URL.
var redisParams = []string{"addr", "master_name", "username", "password"}

// parseRedisURL parses redis://user:password@host:port/db, and rediss:// for TLS. Each addr is an
// additional node of a cluster or an additional Sentinel. With master_name, host and user are those
// of a Sentinel, and username and password those of the master. The problem follows the key in a
// sentence and contains no secret; "" means there is none.
func parseRedisURL(text string) (s RedisServer, problem string) {
	u, err := url.Parse(text)
	if err == nil && strings.Contains(u.Host, ",") {
		return s, "must have one server before its parameters, and each further one in ?addr=host:port&addr=host:port, without commas"
	}
	if err != nil || !isRedis(u) {
		return s, "must be redis://user:password@host:port/db, or rediss:// with TLS; in a user or password, " + inUsers
	}
	params, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return s, "must have its parameters after ?, separated by &; in a value, characters such as & and % are written %26 and so on"
	}
	for name, values := range params {
		switch {
		case !slices.Contains(redisParams, name):
			return s, fmt.Sprintf("has a parameter %q that is none of %s", mask(name), strings.Join(redisParams, ", "))
		case len(values) > 1 && name != "addr":
			return s, fmt.Sprintf("must have its parameter %q once", name)
		}
	}
	s = RedisServer{TLS: u.Scheme == "rediss", MasterName: params.Get("master_name")}
	user, password := u.User.Username(), ""
	if u.User != nil {
		password, _ = u.User.Password()
	}
	port := redisPort
	switch {
	case s.MasterName != "":
		s.SentinelUsername, s.SentinelPassword, port = user, password, sentinelPort
		s.Username, s.Password = params.Get("username"), params.Get("password")
	case params.Has("master_name"):
		return s, "must name the master in its parameter master_name, or not have it"
	case params.Has("username") || params.Has("password"):
		return s, "must have its user and password before the host; as parameters they are those of a master, which needs master_name"
	default:
		s.Username, s.Password = user, password
	}
	for _, addr := range append([]string{net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))}, params["addr"]...) {
		problem := hostPort(addr, false)
		if problem != "" {
			return s, "has a server that " + problem
		}
		s.Addrs = append(s.Addrs, addr)
	}
	return s, s.database(strings.Trim(u.Path, "/"))
}

// database parses the number of the database.
func (s *RedisServer) database(text string) (problem string) {
	if text == "" {
		return ""
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n < 0 || n > maxDB:
		return fmt.Sprintf("must end with the number of a database, 0 to %d, not /%s", maxDB, mask(text))
	case n != 0 && len(s.Addrs) > 1 && s.MasterName == "":
		return "must have database 0 with several servers: that is a cluster, and a cluster has only that one (Sentinels need master_name)"
	}
	s.DB = n
	return ""
}
