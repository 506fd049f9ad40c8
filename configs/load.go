package configs

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/freshet/freshet/internal/repeatable"
)

const (
	envPrefix = "FRESHET_"
	delimiter = "."
)

// Options specifies the sources of a configuration.
type Options struct {
	Path    string         // YAML file; "" for none
	Environ []string       // in the format of os.Environ; nil for no environment
	Flags   *pflag.FlagSet // parsed flags of [AddFlags]; nil for none
	Again   bool           // the sources were loaded before, so that no file can be a pipe
}

// Load applies the file to the defaults, then the environment, then the flags, and validates the
// result. The error is a [Problems] with everything that is wrong, unless the file cannot be read
// at all.
func Load(o Options) (Config, error) {
	c := Default()
	var all Problems
	if o.Path != "" {
		data, err := o.read(o.Path)
		if err == nil && len(bytes.TrimSpace(data)) == 0 {
			err = fmt.Errorf("%s is empty: the defaults are in force without --config", o.Path)
		}
		if err != nil {
			return Config{}, fmt.Errorf("read the configuration file (--config): %w", err)
		}
		all = append(all, applyFile(&c, o.Path, data)...)
	}
	all = append(all, applyEnv(&c, o)...)
	if o.Flags != nil {
		all = append(all, applyFlags(&c, o.Flags)...)
	}
	return c.finish(append(all, c.pathsAsSecrets()...))
}

// read reads a file.
func (o Options) read(path string) ([]byte, error) {
	if o.Again {
		return repeatable.ReadFile(path)
	}
	return os.ReadFile(path)
}

// finish validates the whole, unless values could not be parsed: rule violations caused by those
// would only confuse.
func (c Config) finish(all Problems) (Config, error) {
	if len(all) == 0 {
		all = c.problems()
	}
	if err := all.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

func applyFile(c *Config, name string, data []byte) Problems {
	sections, err := readYAML(data)
	if err != nil {
		return Problems{{Source: name, Message: "it must be YAML, a map of sections: " + mask(anchor.ReplaceAllString(err.Error(), "unknown anchor referenced")) + yamlHint(err)}}
	}
	values, problems := map[string]any{}, Problems(nil)
	for _, key := range flatten("", false, sections, values) {
		problems = append(problems, Problem{Key: key, Source: name, Message: "must be written as nested sections, without dots in a name"})
	}
	problems = append(problems, restoreWords(name, values)...)
	if len(problems) > 0 {
		return problems
	}
	return layer{values, func(string) string { return name }, OriginFile}.apply(c)
}

// words are the names of keys that YAML 1.1 reads as booleans. This program reads YAML 1.2, but files
// may have passed through a program that does not, such as Helm, which writes recall.n as recall.false.
var words = map[string][]string{"true": {"y", "yes", "on"}, "false": {"n", "no", "off"}}

// restoreWords gives values of such keys their names back.
func restoreWords(source string, values map[string]any) (problems Problems) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		end := strings.LastIndex(key, delimiter) + 1
		for _, word := range words[key[end:]] {
			meant := key[:end] + word
			if _, known := byKey[meant]; !known {
				continue
			}
			if _, twice := values[meant]; twice {
				problems = append(problems, Problem{key, source, "is " + meant + ", as a writer of YAML 1.1 such as Helm passes it on; keep one of the two"})
			}
			values[meant] = values[key]
			delete(values, key)
		}
	}
	return problems
}

// flatten adds each value to values by its dotted key. It returns the keys of which a name contains
// dots, which only parameters of the ranking may; dotted means that all of them do. An empty section
// is a value.
func flatten(prefix string, dotted bool, section, values map[string]any) (withDots []string) {
	for _, name := range slices.Sorted(maps.Keys(section)) {
		value := section[name]
		inName := strings.Contains(name, delimiter) && !strings.HasPrefix(prefix, rankingKey+delimiter)
		if other, ok := value.(map[any]any); ok { // some of its names are not strings
			named := make(map[string]any, len(other))
			for k, v := range other {
				named[fmt.Sprint(k)] = v
			}
			value = named
		}
		inner, isSection := value.(map[string]any)
		if isSection && len(inner) > 0 {
			withDots = append(withDots, flatten(prefix+name+delimiter, dotted || inName, inner, values)...)
			continue
		}
		values[prefix+name] = value
		if dotted || inName {
			withDots = append(withDots, prefix+name)
		}
	}
	return withDots
}

// layer holds the values of one layer by key; source returns the file, variable or flag of a key.
type layer struct {
	values map[string]any
	source func(key string) string
	kind   string // one of the origins
}

// set notes that the layer has set a key.
func (l layer) set(c *Config, key string) {
	c.Origins = maps.Clone(c.Origins) // a copy of the configuration may hold the other map
	if c.Origins == nil {
		c.Origins = map[string]Origin{}
	}
	c.Origins[key] = Origin{Kind: l.kind, Name: l.source(key)}
}

// apply sets every value. An empty value or an empty section leaves the previous value.
func (l layer) apply(c *Config) Problems {
	changes, all := l.cutRanking()
	if changes != "" {
		all = append(all, setRanking(c, changes, l.source(rankingKey))...)
		l.set(c, rankingKey)
	}
	for _, key := range slices.Sorted(maps.Keys(l.values)) {
		raw := l.values[key]
		f, known := byKey[key]
		if !known {
			message := unknown(key, raw)
			if message != "" {
				all = append(all, Problem{Key: key, Source: l.source(key), Message: message})
			}
			continue
		}
		if raw == nil {
			continue
		}
		if err := f.set(c, raw); err != nil {
			all = append(all, Problem{Key: key, Source: l.source(key), Message: err.Error()})
		}
		l.set(c, key)
	}
	return all
}

func unknown(key string, raw any) string {
	first := slices.IndexFunc(schema, func(f field) bool { return strings.HasPrefix(f.key, key+delimiter) })
	if first < 0 {
		return fmt.Sprintf("is not a key; the nearest is %s", Nearest(key))
	}
	if m, ok := raw.(map[string]any); raw == nil || ok && len(m) == 0 {
		return ""
	}
	return "is a section: it holds keys such as " + schema[first].key
}

// applyEnv reads the variables of the known keys, whose names contain underscores themselves, and
// the files named by variables …_FILE. An empty variable counts as not set, because compose files
// and init systems pass on empty ones.
func applyEnv(c *Config, o Options) (all Problems) {
	vars := map[string]string{}
	for _, variable := range o.Environ {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, envPrefix) && !reserved(name, value) {
			vars[name] = value
		}
	}
	problem := func(format string, args ...any) {
		all = append(all, Problem{Source: "environment", Message: fmt.Sprintf(format, args...)})
	}
	values := map[string]any{}
	for _, f := range schema {
		name, inFile := EnvName(f.key), EnvName(f.key)+fileSuffix
		value, path := vars[name], vars[inFile]
		delete(vars, name)
		delete(vars, inFile)
		var err error
		switch {
		case path == "":
		case value != "":
			problem("%s and %s are both set: keep one", inFile, name)
		default:
			if value, err = readValue(path, o.read); err != nil {
				problem("%s %v", inFile, withoutSecret(path, name, err))
			}
			c.fromFile(f.key, path)
		}
		if path == "" && quoted(value) {
			problem("the value of %s has quotes around it, which docker run --env-file and others keep: write it without", name)
			continue
		}
		if value != "" {
			values[f.key] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		near := slices.MinFunc(schema, func(a, b field) int { return distance(name, EnvName(a.key)) - distance(name, EnvName(b.key)) })
		problem("%s is not a setting; the nearest is %s", name, EnvName(near.key))
	}
	source := func(key string) string {
		if c.Files[key] != "" {
			return EnvName(key) + fileSuffix
		}
		return EnvName(key)
	}
	return append(all, layer{values, source, OriginEnvironment}.apply(c)...)
}

// quoted reports whether a value is in quotes. A shell and systemd remove them.
func quoted(value string) bool {
	if len(value) < 2 || value[0] != value[len(value)-1] {
		return false
	}
	return value[0] == '"' || value[0] == '\''
}

// reserved reports whether a variable has Freshet's prefix without being part of the configuration:
// variables that client commands or tests read, and those that Kubernetes sets.
func reserved(name, value string) bool {
	ofCommands := name == EnvAdminToken || name == EnvServer
	return ofCommands || strings.HasPrefix(name, "FRESHET_TEST_") || serviceVariable.MatchString(name+"="+value)
}

// serviceVariable matches the names and values of the variables that Kubernetes sets in every pod
// for a service called freshet or freshet-…, such as freshet-redis. A value mistaken for a setting,
// such as FRESHET_REDIS_PORT=6379, has another form.
var serviceVariable = regexp.MustCompile(`^FRESHET(_[A-Z0-9_]+)?_(` +
	`SERVICE_HOST=[^\s/]+|SERVICE_PORT(_[A-Z0-9_]+)?=\d+|` +
	`PORT=(tcp|udp|sctp)://\S+|` +
	`PORT_\d+_(TCP|UDP|SCTP)(=(tcp|udp|sctp)://\S+|_PROTO=(tcp|udp|sctp)|_PORT=\d+|_ADDR=[^\s/]+))$`)

// Environment variables of client commands. They are not configuration keys.
const (
	EnvServer     = "FRESHET_SERVER"      // the server's address
	EnvAdminToken = "FRESHET_ADMIN_TOKEN" // the token to send; the server's own is auth.admin_token
)

// AddFlags adds one flag per key to the set.
func AddFlags(fs *pflag.FlagSet) {
	c := Default()
	for _, f := range schema {
		fs.Var(&flagValue{field: f, text: text(f.value(&c))}, f.key, f.help)
		if f.kind.name == "bool" {
			fs.Lookup(f.key).NoOptDefVal = "true"
		}
	}
}

// flagValue checks a flag by the same rules as the other layers.
type flagValue struct {
	field field
	text  string
}

func (v *flagValue) String() string { return v.text }
func (v *flagValue) Type() string   { return v.field.kind.name }

func (v *flagValue) Set(s string) error {
	scratch := Default()
	if err := v.field.set(&scratch, s); err != nil {
		return err
	}
	v.text = s
	return nil
}

func applyFlags(c *Config, fs *pflag.FlagSet) Problems {
	values := map[string]any{}
	fs.Visit(func(f *pflag.Flag) {
		if v, ok := f.Value.(*flagValue); ok {
			values[f.Name] = v.text
			delete(c.Files, f.Name) // its value is overridden
		}
	})
	return layer{values, func(key string) string { return "--" + key }, OriginFlag}.apply(c)
}
