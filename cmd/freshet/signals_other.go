//go:build !unix

package main

import "os"

// ignored are the signals that have no effect on servers; here there are none.
var ignored []os.Signal
