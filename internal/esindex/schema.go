package esindex

// Schema is an index as the backends use it: how a field is named in queries,
// where its value lies in the document, and how time is written.
type Schema struct {
	Fields Fields    // names in queries and sorts
	Source Fields    // names in the document; differs from Fields where a sub-field or an alias is queried
	Time   TimeField // the update time
}

// OwnSchema is the schema of an index made by [Ensure] with these names.
func OwnSchema(names Fields) Schema {
	names = names.WithDefaults()
	return Schema{Fields: names, Source: names, Time: EpochSeconds}
}

// WithDefaults turns the zero Schema into that of our own index.
func (s Schema) WithDefaults() Schema {
	if s == (Schema{}) {
		return OwnSchema(Fields{})
	}
	return s
}

// MetaID reports whether the document's _id is the item's id. Then a search
// has to load every hit's _id, and ties need a point in time.
func (s Schema) MetaID() bool { return s.Fields.ID == MetaID }

// Mapped reports whether the names are not those of our own index: documents
// may then have been written by others.
func (s Schema) Mapped() bool { return s.Source != Fields{}.WithDefaults() || s.Time != EpochSeconds }
