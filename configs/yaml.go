package configs

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readYAML parses one document, and rejects a second one.
func readYAML(data []byte) (sections map[string]any, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&sections); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document (---): keep one")
	}
	return sections, nil
}

// yamlHints say what to do about errors of YAML that do not say it, by a part of their text.
var yamlHints = []struct{ part, hint string }{
	{"mapping values are not allowed", "text that contains a colon and a blank, or ends with a colon, needs quotes; a section is indented with the same blanks in each line"},
	{"cannot start any token", "indent with blanks, not with tabs; text that begins with one of @ ` % needs quotes"},
	{"did not find expected alphabetic", "text that begins with one of & * ! needs quotes"},
	{"unknown anchor", "text that begins with one of & * ! needs quotes"},
	{"invalid trailing UTF-8", "save the file as UTF-8"},
	{"invalid leading UTF-8", "save the file as UTF-8"},
	{"control characters are not allowed", "the file has characters that cannot be seen; write the line again"},
	{"cannot unmarshal !!str", "each line of the file is a key with a colon, such as data_dir: ./freshet-data"},
}

// anchor matches the text after a *, which may be a secret.
var anchor = regexp.MustCompile(`unknown anchor '.*' referenced`)

func yamlHint(err error) string {
	for _, known := range yamlHints {
		if strings.Contains(err.Error(), known.part) {
			return ". " + known.hint
		}
	}
	return ""
}
