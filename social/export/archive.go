package export

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/personal"
	"github.com/freshet/freshet/social"
)

// format is the version of the layout of an export.
const format = 1

// Manifest is the file manifest.json of an export.
type Manifest struct {
	Format int       `json:"format"`
	Agent  string    `json:"agent"`
	Began  time.Time `json:"began"` // what was changed while it was made may be in it or not
	Ended  time.Time `json:"ended"`
	Parts  []Entry   `json:"parts"`
	// Images is the number of files in images/. Missing is the number of those that were removed meanwhile.
	Images  int `json:"images"`
	Missing int `json:"images_missing"`
}

// Entry is a part of an export in its manifest.
type Entry struct {
	Name    string `json:"name"`
	What    string `json:"what"`
	File    string `json:"file,omitempty"` // "" if the export has none of it
	Lines   int    `json:"lines"`
	Without string `json:"without,omitempty"` // what the export lacks of it, and why
}

// archive writes the zip of an export.
type archive struct {
	x        *Exporter
	zip      *zip.Writer
	manifest Manifest
}

func newArchive(x *Exporter, agent string, out io.Writer) *archive {
	return &archive{x: x, zip: zip.NewWriter(out), manifest: Manifest{Format: format, Agent: agent, Began: x.Clock().UTC()}}
}

// write writes all files of the zip, one after the other.
func (a *archive) write(ctx context.Context, parts []personal.Part) error {
	if err := a.text("README.txt", readme(a.manifest.Agent, parts)); err != nil {
		return err
	}
	for i := range parts {
		if err := a.part(ctx, &parts[i]); err != nil {
			return fmt.Errorf("%s: %w", parts[i].Name, err)
		}
	}
	a.manifest.Ended = a.x.Clock().UTC()
	text, err := json.MarshalIndent(a.manifest, "", "  ")
	if err == nil {
		err = a.text("manifest.json", string(text)+"\n")
	}
	return errors.Join(err, a.zip.Close())
}

// create begins a file of the zip. method is that of the zip.
func (a *archive) create(name string, method uint16) (io.Writer, error) {
	return a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: a.manifest.Began})
}

func (a *archive) text(name, text string) error {
	w, err := a.create(name, zip.Deflate)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// part writes the file of a part, and the images that its lines name.
func (a *archive) part(ctx context.Context, p *personal.Part) error {
	entry := Entry{Name: p.Name, What: p.What, File: p.File(), Without: p.Without}
	defer func() { a.manifest.Parts = append(a.manifest.Parts, entry) }()
	if p.Export == nil {
		return nil
	}
	w, err := a.create(entry.File, zip.Deflate)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	pictures := false
	err = p.Export(ctx, a.manifest.Agent, func(line any) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, picture := line.(social.ExportedImage)
		pictures = pictures || picture
		entry.Lines++
		return lines.Encode(line)
	})
	if err != nil || !pictures || a.x.Images == nil {
		return err
	}
	return p.Export(ctx, a.manifest.Agent, func(line any) error {
		picture, ok := line.(social.ExportedImage)
		if !ok {
			return nil
		}
		return a.image(ctx, picture.Image)
	})
}

// image copies the file of an image, which is compressed already.
func (a *archive) image(ctx context.Context, key string) error {
	file, err := a.x.Images.Open(ctx, key)
	if errors.Is(err, feed.ErrNotFound) { // its post was deleted meanwhile
		a.manifest.Missing++
		return nil
	}
	if err != nil {
		return err
	}
	w, err := a.create("images/"+key+suffixOf(file.ContentType()), zip.Store)
	if err == nil {
		_, err = io.Copy(w, file)
	}
	a.manifest.Images++
	return errors.Join(err, file.Close())
}

func suffixOf(contentType string) string {
	if contentType == "image/png" {
		return ".png"
	}
	return ".jpg"
}

// readme returns the text for the person who opens the zip.
func readme(agent string, parts []personal.Part) string {
	var b strings.Builder
	fmt.Fprintf(&b, `This is what the server has stored about the agent %s.

Each file *.ndjson has one JSON value in each line. Times are seconds since
1970-01-01 UTC; fields without a value may be left out. The files of images are in
images/, named as at the end of the addresses in posts.ndjson. manifest.json
has the number of lines of each file.

`, agent)
	for i := range parts {
		if parts[i].Export != nil {
			fmt.Fprintf(&b, "%s\n  %s\n", parts[i].File(), parts[i].What)
		}
	}
	b.WriteString("\nWhat is stored and not in these files:\n\n")
	for i := range parts {
		if parts[i].Without == "" {
			continue
		}
		if parts[i].Export == nil {
			fmt.Fprintf(&b, "%s: %s\n  ", parts[i].Name, parts[i].What)
		} else {
			fmt.Fprintf(&b, "%s\n  ", parts[i].Name)
		}
		b.WriteString(parts[i].Without + "\n")
	}
	return b.String()
}
