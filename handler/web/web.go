// Package web holds the web pages, each in its own folder: the feed page, the decay lab and the
// API documentation. They are embedded in the binary and load nothing from elsewhere.
package web

import "embed"

// Files holds the pages and the files that they load. base.css and api.js are shared.
//
//go:embed base.css api.js docs feed lab
var Files embed.FS
