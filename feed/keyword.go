package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/freshet/freshet/feed/strictjson"
)

// Keyword is a word or a phrase that a reader is interested in, with its weight.
// In JSON it is a string if the weight is 1, else
//
//	{"term": "machine learning", "weight": 2}
type Keyword struct {
	Term   string
	Weight float64 // 0 to 100; 0 has no effect
}

// Keywords returns keywords of weight 1.
func Keywords(terms ...string) []Keyword {
	keywords := make([]Keyword, len(terms))
	for i, term := range terms {
		keywords[i] = Keyword{Term: term, Weight: 1}
	}
	return keywords
}

type keywordText struct {
	Term   *string  `json:"term"`
	Weight *float64 `json:"weight"`
}

// MarshalJSON implements [json.Marshaler].
func (k Keyword) MarshalJSON() ([]byte, error) {
	if k.Weight == 1 {
		return json.Marshal(k.Term)
	}
	return json.Marshal(keywordText{&k.Term, &k.Weight})
}

// declaredKeyword is a keyword in a request; unknown fields are errors.
type declaredKeyword Keyword

// UnmarshalJSON reads both forms strictly.
func (k *declaredKeyword) UnmarshalJSON(data []byte) error {
	return (*Keyword)(k).read(data, false)
}

// UnmarshalJSON reads both stored forms; a missing weight is 1. Unknown fields, which a newer
// version may have written, are ignored.
func (k *Keyword) UnmarshalJSON(data []byte) error { return k.read(data, true) }

func (k *Keyword) read(data []byte, stored bool) error {
	if len(data) > 0 && data[0] == '"' {
		k.Weight = 1
		return json.Unmarshal(data, &k.Term)
	}
	var text keywordText
	var err error
	isObject := len(data) > 0 && data[0] == '{'
	switch {
	case !isObject:
		err = fmt.Errorf("not %.20s", data)
	case stored:
		err = strictjson.UnmarshalStored(data, &text)
	default:
		err = strictjson.Unmarshal(data, &text, nil)
	}
	if err == nil && text.Term == nil {
		err = errors.New("the term is missing")
	}
	if err != nil {
		return fmt.Errorf(`must be a string or an object such as {"term":"machine learning","weight":2}: %w`, err)
	}
	k.Term, k.Weight = *text.Term, 1
	setNumber(&k.Weight, text.Weight)
	return nil
}

// checkKeywords checks the bounds of keywords; the error wraps [ErrInvalid].
func checkKeywords(keywords []Keyword) error {
	if len(keywords) > MaxKeywords {
		return Errorf(ErrInvalid, "bad profile: %d keywords, at most %d are allowed", len(keywords), MaxKeywords)
	}
	characters := 0
	for _, k := range keywords {
		if err := checkTerm("keywords", k.Term); err != nil {
			return err
		}
		if !(k.Weight >= 0 && k.Weight <= MaxInterestWeight) {
			return Errorf(ErrInvalid, "bad profile: the weight of keyword %q must be 0 to %d, not %v", k.Term, MaxInterestWeight, k.Weight)
		}
		characters += utf8.RuneCountInString(k.Term)
	}
	if characters > MaxKeywordsLength {
		return Errorf(ErrInvalid, "bad profile: the keywords have %d characters in total, at most %d are allowed", characters, MaxKeywordsLength)
	}
	return nil
}
