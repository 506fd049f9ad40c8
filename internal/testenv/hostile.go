package testenv

import "strings"

// HostileTexts have a special meaning in a store, a script, a query or a path. Where free text is
// allowed they must be treated as text, elsewhere they must be rejected.
var HostileTexts = []string{
	`"`, `'`, `\`, `{`, `}`, `{}`, `{u_2}`, `u_2}{u_1`, `*`, `?`, `[a-z]*`, `u_*`, `_all`, `_id`, `_search`, `../u_2`, `..`, `/`, `//`, `%2e%2e%2f`,
	"a\nb", "a\r\nSET x y\r\n", "*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$1\r\ny\r\n", "$-1\r\n", "a\x00b", "a\tb",
	`redis.call('FLUSHALL')`, `]] redis.call("FLUSHALL") --[[`, `return 1`, `KEYS[1]`, `EVAL`,
	`"}}],"query":{"match_all":{}}`, `{"match_all":{}}`, `") OR 1=1 --`, `'; DROP TABLE items; --`, `x' OR 'x'='x`,
	`a AND b`, `title:*`, `(a`, `a~99999`, `+-=&&||><!(){}[]^"~*?:\/`, `/a.*/`, `<script>alert(1)</script>`, `${jndi:ldap://x}`, `{{7*7}}`, `%s%n%x`,
	"é", "日本", "🙂", "\u202e", "\u2028", "\ufeff", "a|b", "u_2|a", "u_2:a", "a b", " ", strings.Repeat("a", 257),
}
