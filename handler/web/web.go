// Package web holds the pages people look at, each in a folder of its name:
// the feed page, the decay lab and the API's documentation. They are embedded in the
// binary and load nothing from elsewhere.
package web

import "embed"

// Files are the pages and what they load. base.css and api.js are shared.
//
//go:embed base.css api.js docs feed lab
var Files embed.FS
