package handler

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/freshet/freshet/feed"
)

// decodeQuery reads the parameters of a query into a struct, by the rules for
// bodies: known ones, each once, whole numbers as whole numbers.
func (c *call) decodeQuery(into any) error {
	values, err := url.ParseQuery(c.gin.Request.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("%w: the query is not one: %w", feed.ErrInvalid, err)
	}
	var members []string
	for name, texts := range values {
		for _, text := range texts {
			value := appendString(nil, text)
			if isNumber(text) {
				value = []byte(text)
			}
			members = append(members, string(appendString(nil, name))+":"+string(value))
		}
	}
	if err := decode([]byte("{"+strings.Join(members, ",")+"}"), into); err != nil {
		return fmt.Errorf("in the query: %w", err)
	}
	return nil
}

func isNumber(text string) bool {
	var n json.Number
	return text != "" && text[0] != '"' && json.Unmarshal([]byte(text), &n) == nil && n != ""
}
