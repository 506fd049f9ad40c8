package configs

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

func (c CORS) check(p *Problems) {
	for _, o := range c.Origins {
		switch problem := badOrigin(o); {
		case o == "*" && len(c.Origins) > 1:
			p.add("server.cors.origins", "must be * alone or a list without it: * allows every origin")
		case o != "*" && problem != "":
			p.add("server.cors.origins", "%s", problem)
		}
	}
}

// badOrigin says what is wrong with an origin: browsers send it without a path
// and without the port that the scheme stands for, and it is compared as a whole.
func badOrigin(origin string) string {
	u, err := url.Parse(origin)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "" || u.User != nil:
		return fmt.Sprintf("must be origins such as https://app.example.com, not %q", mask(origin))
	case strings.ContainsFunc(origin, func(r rune) bool { return r > unicode.MaxASCII }):
		return fmt.Sprintf("must be origins as browsers send them: write the host of %q in its ASCII form, xn--…", origin)
	case strings.Contains(origin, "*"):
		return fmt.Sprintf("must be exact origins, or * alone: %q has a * within it", origin)
	case origin != strings.ToLower(u.Scheme+"://"+u.Host):
		return fmt.Sprintf("must be origins without a path and in lower case: %s instead of %q", strings.ToLower(u.Scheme+"://"+u.Host), origin)
	case u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80" || strings.HasSuffix(u.Host, ":"):
		return fmt.Sprintf("must be origins as browsers write them: %s://%s instead of %q", u.Scheme, strings.TrimSuffix(u.Host, ":"+u.Port()), origin)
	}
	return ""
}
