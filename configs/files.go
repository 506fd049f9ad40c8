package configs

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// fileSuffix ends the name of a variable that names a file with the value of a setting:
// FRESHET_REDIS_PASSWORD_FILE has that of FRESHET_REDIS_PASSWORD.
const fileSuffix = "_FILE"

// readValue reads the value of a setting from a file. Editors and echo end a file with a
// newline, which is no part of the value.
func readValue(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	value := strings.TrimRight(string(data), "\r\n")
	if value == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return value, nil
}

// environment sorts variables out: a name and its value, which may be in a file.
type environment struct {
	keys   map[string]string // of the settings, by the names of their variables
	values map[string]string // of the variables that are set
}

// valueOf returns the value that a variable gives to a setting, the name of the file that
// has it, "" for none, and whether the variable is one of a setting at all.
func (e environment) valueOf(name, value string) (key, text, file string, ok bool, err error) {
	if key, ok = e.keys[name]; ok {
		return key, value, "", true, nil
	}
	plain, isFile := strings.CutSuffix(name, fileSuffix)
	if key, ok = e.keys[plain]; !isFile || !ok {
		return "", "", "", false, nil
	}
	if value == "" {
		return key, "", "", true, nil
	}
	if e.values[plain] != "" {
		return key, "", "", true, errors.New("and " + plain + " are both set: keep one")
	}
	text, err = readValue(value)
	return key, text, value, true, err
}

// fromFile notes that the value of a key is in a file.
func (c *Config) fromFile(key, path string) {
	if c.Files == nil {
		c.Files = map[string]string{}
	}
	c.Files[key] = path
}

// Fresh returns a function that returns the configuration with what the files of the
// variables …_FILE say by now, read again once a second at most. A file that cannot be
// read, or makes the configuration wrong, changes nothing. It is safe for concurrent use.
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

// FromFiles reports whether any value is in a file that a variable names.
func (c Config) FromFiles() bool { return len(c.Files) > 0 }

func (c Config) reread() Config {
	fresh := c
	for key, path := range c.Files {
		if value, err := readValue(path); err != nil || byKey[key].set(&fresh, value) != nil {
			return c
		}
	}
	if fresh.Validate() != nil {
		return c
	}
	return fresh
}
