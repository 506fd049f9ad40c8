// Package personal says what is stored about an agent: each store registers how its data is erased and
// how it is exported, in one list, so that neither can be forgotten.
package personal

import (
	"context"
	"errors"
	"fmt"
	"regexp"
)

// Part is one kind of data about an agent.
type Part struct {
	Name string // of the part; its file in an export is Name.ndjson
	What string // what a line of the file is, for people
	// Places are where the data is: tables as "social posts", keys of Redis as "redis feed:cache:", files
	// of data_dir as "file pages". An erasure empties no place that no part names.
	Places []string
	// Export passes the agent's data to put, one value for each line. It is nil if an export has none
	// of it. Errors are those of the store, or of put.
	Export func(ctx context.Context, agent string, put func(line any) error) error
	// Without says what an export lacks of it, and why; "" if it has everything.
	Without string
}

// File returns the name of the part's file in an export; "" if it has none.
func (p *Part) File() string {
	if p.Export == nil {
		return ""
	}
	return p.Name + ".ndjson"
}

// Source is a store with data about agents. Erase removes all its parts, and may be repeated after an
// error.
type Source struct {
	Erase func(ctx context.Context, agent string) error
	Parts []Part
}

// Sources are all stores, in the order in which an erasure goes through them.
type Sources []Source

// Erase removes everything that is stored about an agent. After an error, call it again.
func (s Sources) Erase(ctx context.Context, agent string) error {
	for _, source := range s {
		if err := source.Erase(ctx, agent); err != nil {
			return err
		}
	}
	return nil
}

// Parts returns the parts of all sources, in their order.
func (s Sources) Parts() (all []Part) {
	for _, source := range s {
		all = append(all, source.Parts...)
	}
	return all
}

var validName = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// Check returns an error unless each source can be erased and has parts, and each part is exported or says
// why it is not.
func (s Sources) Check() error {
	var errs []error
	names := map[string]bool{}
	for i, source := range s {
		switch {
		case source.Erase == nil:
			errs = append(errs, fmt.Errorf("source %d is not erased", i))
		case len(source.Parts) == 0:
			errs = append(errs, fmt.Errorf("source %d is erased, but its list says neither what it has nor how it is exported", i))
		}
		for _, p := range source.Parts {
			switch {
			case !validName.MatchString(p.Name) || names[p.Name]:
				errs = append(errs, fmt.Errorf("the name of part %q is not one, or taken", p.Name))
			case p.What == "" || len(p.Places) == 0:
				errs = append(errs, fmt.Errorf("part %s does not say what it is and where", p.Name))
			case p.Export == nil && p.Without == "":
				errs = append(errs, fmt.Errorf("part %s is erased, but neither exported nor said to be left out", p.Name))
			}
			names[p.Name] = true
		}
	}
	return errors.Join(errs...)
}
