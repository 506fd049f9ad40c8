package doctor

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/freshet/freshet/internal/connect"
	"github.com/freshet/freshet/social/media"
)

// mediaProbe is how long the store of images may take to keep a small file, give it
// back and remove it.
const mediaProbe = 10 * time.Second

// lookAtMedia has the store of images keep a small file, and says how large images
// may be.
func (d *doctor) lookAtMedia(ctx context.Context) {
	const what = "media"
	address := d.cfg.Media.URL
	if address == "" && d.cfg.UsesPostgres() {
		d.say(OK, what, "", "media.url is empty, so posts have no images")
		return
	}
	if address == "" {
		var err error
		if address, err = connect.FolderURL(filepath.Join(d.cfg.DataDir, "media")); err != nil {
			d.say(Broken, what, "correct data_dir", "%v", err)
			return
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		d.say(Broken, what, "correct media.url", "%v", err)
		return
	}
	if _, err := os.Stat(connect.FolderOf(u)); u.Scheme == "file" && errors.Is(err, os.ErrNotExist) && !d.fix {
		d.say(OK, what, "", "%s does not exist yet; serve creates it", u.Path)
	} else if err := probeMedia(ctx, u); err != nil {
		fix := "start the store, or correct media.url and what the server may do there: read, write, list and delete"
		if u.Scheme == "file" {
			fix = "name a folder this user may write to"
		}
		d.say(Broken, what, fix, "%v", err)
		return
	} else {
		d.say(OK, what, "", "%s keeps, reads and removes a file", u.Redacted())
	}
	d.judgeMediaMemory()
}

func probeMedia(ctx context.Context, u *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, mediaProbe)
	defer cancel()
	store, err := connect.Images(u)
	if err != nil {
		return err
	}
	return errors.Join(media.Probe(ctx, store), store.Close())
}

// judgeMediaMemory says which images media.memory is enough for.
func (d *doctor) judgeMediaMemory() {
	const what = "media memory"
	pixels := media.Decodable(int64(d.cfg.Media.Memory) << 20)
	if pixels >= media.MaxPixels {
		d.say(OK, what, "", "media.memory %d MiB is enough for every image that is taken", d.cfg.Media.Memory)
		return
	}
	d.say(OK, what, "", "media.memory %d MiB is enough for every image of up to %d megapixels; of larger ones some are refused",
		d.cfg.Media.Memory, pixels/1_000_000)
}
