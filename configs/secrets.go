package configs

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/freshet/freshet/internal/repeatable"
)

// leastSecret is the minimum length of a secret that is masked in output. Shorter ones would match
// parts of ordinary words.
const leastSecret = 4

// Masking returns a writer that passes its input on to w with every secret of the configuration
// masked, including new values of secret files. Error messages of services may repeat their input:
// a Redis that does not know HELLO replies with its arguments, including the password. A secret
// that is split over two writes is not found, so each write must contain whole lines, as those of a
// logger do.
func Masking(w io.Writer, c Config) io.Writer {
	m := &maskingWriter{w: w, fresh: c.Fresh()}
	m.add(c)
	if len(m.forms) == 0 {
		return w
	}
	return m
}

type maskingWriter struct {
	w     io.Writer
	fresh func() Config

	mu      sync.Mutex
	files   bool     // secrets may change: some are in files
	forms   []string // of all secrets so far, longest first
	replace *strings.Replacer
}

// add also masks the secrets of a configuration.
func (m *maskingWriter) add(c Config) {
	m.files = c.FromFiles()
	known := len(m.forms)
	for _, form := range c.secretForms() {
		if !slices.Contains(m.forms, form) {
			m.forms = append(m.forms, form)
		}
	}
	if len(m.forms) == known {
		return
	}
	slices.SortFunc(m.forms, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(m.forms))
	for _, form := range m.forms {
		pairs = append(pairs, form, masked)
	}
	m.replace = strings.NewReplacer(pairs...)
}

func (m *maskingWriter) Write(p []byte) (int, error) {
	m.mu.Lock()
	if m.files {
		m.add(m.fresh())
	}
	replace := m.replace
	m.mu.Unlock()
	if _, err := replace.WriteString(m.w, string(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// inJSON returns a text in the form it has within the quotes of JSON.
func inJSON(text string) string {
	data, err := json.Marshal(text)
	if err != nil { // never happens for a string
		return text
	}
	return string(data[1 : len(data)-1])
}

// secretForms returns the secrets in all forms in which they may appear, longest first, so that no
// part of one remains.
func (c Config) secretForms() []string {
	var forms []string
	add := func(secret string) {
		quoted := strconv.Quote(secret)
		quoted = quoted[1 : len(quoted)-1]
		for _, form := range []string{secret, quoted, url.QueryEscape(secret), url.PathEscape(secret)} {
			for _, form := range []string{form, inJSON(form)} {
				if len(form) >= leastSecret && !slices.Contains(forms, form) {
					forms = append(forms, form)
				}
			}
		}
	}
	basic := func(user, password string) {
		add(password)
		if password != "" {
			add(base64.StdEncoding.EncodeToString([]byte(user + ":" + password)))
		}
	}
	for _, f := range schema {
		if f.secret {
			text, _ := f.value(&c).(string)
			add(text)
			if slices.Contains(inRotation, f.key) {
				for _, line := range Lines(text) {
					add(line)
				}
			}
		}
	}
	for _, address := range append([]string{c.Postgres.URL, c.Redis.URL, c.Timeline.RedisURL}, c.Elasticsearch.URLs()...) {
		if u, err := url.Parse(address); err == nil {
			password, _ := u.User.Password()
			basic(u.User.Username(), password)
			for _, name := range []string{"password", "sslpassword"} {
				add(u.Query().Get(name))
			}
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return forms
}

// fileSuffix is the suffix of a variable that names a file with the value of a setting:
// FRESHET_REDIS_PASSWORD_FILE names the file with the value of FRESHET_REDIS_PASSWORD.
const fileSuffix = "_FILE"

// readValue reads the value of a setting from a file, without the newlines at its end, which
// editors and echo add, and without the mark of UTF-8 at its beginning, which editors of Windows add.
func readValue(path string, read func(path string) ([]byte, error)) (string, error) {
	data, err := read(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return "", fmt.Errorf("%s is UTF-16: save it as UTF-8, which editors and PowerShell (-Encoding) offer", path)
	}
	value := strings.TrimRight(text, "\r\n")
	if value == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return value, nil
}

// AdminToken returns the admin token that commands send: that of [EnvAdminToken], or the server's own,
// from its variable or the file that it names; "" if none of them is set.
func AdminToken(env func(name string) string) (string, error) {
	own := EnvName("auth.admin_token")
	token, path := cmp.Or(env(EnvAdminToken), env(own)), env(own+fileSuffix)
	if token == "" && path != "" {
		value, err := readValue(path, repeatable.ReadFile)
		if err != nil {
			return "", fmt.Errorf("%s%s: %w", own, fileSuffix, withoutSecret(path, own, err))
		}
		token = value
	}
	return Lines(token)[0], nil
}

// withoutSecret returns the error of reading a file that a variable …_FILE names. A value that looks like no
// path may be what the variable name, without _FILE, should have: it is not repeated.
func withoutSecret(path, name string, err error) error {
	isPath := filepath.IsAbs(path) || strings.HasPrefix(path, ".")
	var failed *fs.PathError
	if isPath || !errors.As(err, &failed) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf("must name a file: %w. The value is not shown here, as it may be the one that belongs into %s", failed.Err, name)
}

// pathsAsSecrets reports secrets that are the path of a file that exists.
func (c *Config) pathsAsSecrets() (problems Problems) {
	for _, f := range schema {
		text, _ := f.value(c).(string)
		if !f.secret || !filepath.IsAbs(text) {
			continue
		}
		info, err := os.Stat(text)
		if err == nil && info.Mode().IsRegular() {
			problems = append(problems, Problem{f.key, c.Origins[f.key].Name, "is the path of a file, and not what is in it: name the file in the variable " + EnvName(f.key) + fileSuffix})
		}
	}
	return problems
}

// fromFile records that the value of a key is in a file, which is read again. A pipe can be read only
// once: its value stays.
func (c *Config) fromFile(key, path string) {
	if repeatable.IsPipe(path) {
		return
	}
	if c.Files == nil {
		c.Files = map[string]string{}
	}
	c.Files[key] = path
}

// Fresh returns a function that returns the configuration with the current contents of the files
// named by variables …_FILE, read at most once a second. If a file cannot be read or makes the
// configuration invalid, the configuration does not change. The function is safe for concurrent
// use.
func (c Config) Fresh() func() Config {
	if len(c.Files) == 0 {
		return func() Config { return c }
	}
	var mu sync.Mutex
	read, last := time.Now(), c
	return func() Config {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(read) >= time.Second {
			read, last = time.Now(), last.reread()
		}
		return last
	}
}

// FromFiles reports whether any value is in a file named by a variable.
func (c Config) FromFiles() bool { return len(c.Files) > 0 }

func (c Config) reread() Config {
	fresh := c
	for key, path := range c.Files {
		value, err := readValue(path, repeatable.ReadFile)
		if err != nil {
			return c
		}
		if err := byKey[key].set(&fresh, value); err != nil {
			return c
		}
	}
	if fresh.Validate() != nil {
		return c
	}
	return fresh
}
