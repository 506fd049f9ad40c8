// Package web holds the web pages, each in its own folder: the feed page, the console and
// the API documentation. They are embedded in the binary and load nothing from elsewhere.
// README.md says how to add a view to the console.
package web

import "embed"

// Files holds the pages and the files that they load. base.css and api.js are shared.
//
//go:embed base.css api.js console docs feed
var Files embed.FS
