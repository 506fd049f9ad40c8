package feed

import (
	"strings"
)

// elasticNames are the fields that Elasticsearch keeps for itself. A document that
// has one is refused there.
var elasticNames = map[string]bool{
	"_data_stream_timestamp": true, "_doc_count": true, "_field_names": true, "_id": true, "_ignored": true,
	"_ignored_source": true, "_index": true, "_nested_path": true, "_routing": true, "_seq_no": true, "_source": true, "_version": true,
}

// ownPrefix begins the names of the fields that items have beside their own where
// they are stored in Elasticsearch.
const ownPrefix = "freshet_"

// checkBusiness refuses a business field that not every catalog can store, so that
// an item is taken by all of them or by none. Elasticsearch reads a dot in a name
// as a step into an object.
func checkBusiness(name string) error {
	for part := range strings.SplitSeq(name, ".") {
		if strings.TrimSpace(part) == "" {
			return Errorf(ErrInvalid, "bad item: the business field %q has a name that is empty or blank, or is so beside a dot", name)
		}
	}
	head, _, inner := strings.Cut(name, ".")
	lower := strings.ToLower(name)
	switch {
	case elasticNames[head]:
		return Errorf(ErrInvalid, "bad item: the business field %q has a name that Elasticsearch keeps for itself; give it another", name)
	case strings.HasPrefix(head, ownPrefix):
		return Errorf(ErrInvalid, "bad item: the business field %q has a name that Freshet keeps for itself; give it another", name)
	case lower == InFeed:
		return Errorf(ErrInvalid, "bad item: %s is reserved for what answers say about the reader; name the field otherwise", InFeed)
	case inner && knownField(head):
		return Errorf(ErrInvalid, "bad item: the business field %q lies within the field %q; give it another name", name, head)
	case lower != name && knownField(lower):
		return Errorf(ErrInvalid, "bad item: field %q must be written %q", name, lower)
	}
	return nil
}
