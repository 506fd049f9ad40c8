// Package esindex is the common part of the Elasticsearch backends: the names and
// types of an index's fields ([Fields], [Schema]), the definition of our own
// index ([Ensure]), the reading of an existing one ([Inspect]) and one request
// ([Do]) with its errors.
package esindex
