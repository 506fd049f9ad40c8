package configs

import (
	"regexp"
	"strings"
)

// placeholder matches what other programs replace by a value: ${NAME} and $(NAME) of shells, compose files and
// Kubernetes, {{ name }} of templates. name matches those of names in URLs, {tenant} and <host>, and whole those
// that are all of a secret.
var (
	placeholder = regexp.MustCompile(`\$\{[A-Za-z_][^}]*\}|\$\([A-Za-z_][A-Za-z0-9_]*\)|\{\{[^}]*\}\}`)
	nameInURL   = regexp.MustCompile(`\{[A-Za-z][\w-]*\}|<[A-Za-z][\w -]*>|…`)
	whole       = regexp.MustCompile(`^(` + placeholder.String() + `|\$[A-Z_][A-Z0-9_]*|<[^<>]*>|[.…]+)$`)
)

// placeholders reports values in which a placeholder was left, because nothing replaced it: a password that is
// ${REDIS_PASSWORD} is refused by Redis, and a secret that is … is known to everybody. A password may contain
// such characters, so that of a secret only the whole value counts, and in a URL they can be escaped.
func (p *Problems) placeholders(c *Config) {
	for _, f := range schema {
		texts, _ := f.value(c).([]string)
		text, isText := f.value(c).(string)
		if isText {
			texts = []string{text}
		}
		for _, text := range texts {
			left := placeholder.MatchString(text) || strings.Contains(text, "://") && nameInURL.MatchString(text)
			if f.secret {
				left = whole.MatchString(text)
			}
			if left {
				p.add(f.key, "has a placeholder, such as ${NAME}, <name> or …, in place of a value. Variables in values are not replaced here: "+
					"write the value, or give all of it in the variable %s, or in a file that %s%s names; in a URL, such characters are written %%24, %%7B and so on",
					EnvName(f.key), EnvName(f.key), fileSuffix)
			}
		}
	}
}
