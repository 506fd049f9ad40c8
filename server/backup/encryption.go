package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"filippo.io/age"
)

// sealedSuffix is the end of the names of files that are encrypted.
const sealedSuffix = ".age"

// files are the files of a backup, in a place, encrypted if they have recipients.
type files struct {
	place
	recipients []string        // age1…, sorted; none if the files are not encrypted
	to         []age.Recipient // for a backup
	own        []age.Identity  // for a restoration
}

// encrypted returns files that are encrypted for these recipients.
func encrypted(at place, to []age.Recipient) *files {
	f := &files{place: at, to: to}
	for _, r := range to {
		f.recipients = append(f.recipients, fmt.Sprint(r))
	}
	slices.Sort(f.recipients)
	f.recipients = slices.Compact(f.recipients)
	return f
}

// sealed reports whether the files are encrypted.
func (f *files) sealed() bool { return len(f.recipients) > 0 }

// of returns the files of a part: the list of the images is not encrypted, the next run reads it.
func (f *files) of(p *Part) *files {
	if p.Kind == Images {
		return &files{place: f.place}
	}
	return f
}

// named returns the name under which a file is stored.
func (f *files) named(name string) string {
	if f.sealed() {
		return name + sealedSuffix
	}
	return name
}

// path hides that of the place if what a library writes there would not be encrypted.
func (f *files) path(name string) string {
	if f.sealed() {
		return ""
	}
	return f.place.path(name)
}

// imageName returns the name of an image's file. Encrypted, it is one that does not say which image it is to
// those who do not know its key, which is random; and other recipients have other files.
func (f *files) imageName(key string) string {
	if !f.sealed() {
		return key
	}
	sum := sha256.Sum256([]byte(strings.Join(append(slices.Clone(f.recipients), key), "\n")))
	name := hex.EncodeToString(sum[:])
	return name[:2] + "/" + name
}

// details are in a file of each part of an encrypted backup, and not in its manifest: sums of rows would say
// whether a table has certain rows.
type details struct {
	Tables    map[string]Table `json:"tables,omitempty"`
	Sequences map[string]int64 `json:"sequences,omitempty"`
}

// seal moves the details of a part to a file of their own, if the files are encrypted.
func (f *files) seal(ctx context.Context, folder string, p *Part) error {
	if !f.sealed() {
		return nil
	}
	out, err := f.begin(ctx, folder, "details/"+p.Name+".json")
	if err != nil {
		return err
	}
	file, err := out.finish(json.NewEncoder(out).Encode(details{p.Tables, p.Sequences}))
	p.Details, p.Tables, p.Sequences = &file, nil, nil
	return err
}

// unseal reads the details of all parts. The error says which identity is needed.
func (f *files) unseal(ctx context.Context, m *Manifest) error {
	switch {
	case !f.sealed() && len(f.own) > 0:
		return fmt.Errorf("the backup in %s is not encrypted; if it should be, it is not yours; otherwise leave --identity out", f.shown(""))
	case !f.sealed():
		return nil
	case len(f.own) == 0:
		return f.locked("give the file with the identity of one of them: --identity FILE")
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Details == nil {
			return fmt.Errorf("%s: %w: the part %s lacks its details; restore another backup", f.shown(manifestName), errManifest, p.Name)
		}
		in, err := f.checked(ctx, m.ID+"/", *p.Details)
		if err != nil {
			return err
		}
		var d details
		data, err := io.ReadAll(in)
		err = errors.Join(err, in.Close())
		if err == nil {
			err = json.Unmarshal(data, &d)
		}
		if err != nil {
			return fmt.Errorf("the details of %s: %w", p.Name, err)
		}
		p.Tables, p.Sequences = d.Tables, d.Sequences
	}
	return nil
}

// locked returns the error of one who cannot decrypt the backup.
func (f *files) locked(what string) error {
	var names []string
	for _, name := range f.recipients {
		names = append(names, fmt.Sprintf("%.80s", name))
	}
	return fmt.Errorf("the backup in %s is encrypted to %s; %s", f.shown(""), strings.Join(names, ", "), what)
}

// unsealing reads the content of an encrypted file.
type unsealing struct {
	io.Reader
	ctx   context.Context //nolint:containedctx // of the one file
	files *files
	from  *checkedFile
}

func (f *files) decrypt(ctx context.Context, from *checkedFile) (io.ReadCloser, error) {
	u := &unsealing{ctx: ctx, files: f, from: from}
	var err error
	u.Reader, err = age.Decrypt(from, f.own...)
	if err != nil {
		return nil, errors.Join(u.explained(err), from.Close())
	}
	return u, nil
}

func (u *unsealing) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = u.explained(err)
	}
	return n, err
}

func (u *unsealing) Close() error { return u.from.Close() }

// explained returns the reason why a file was not decrypted.
func (u *unsealing) explained(err error) error {
	cause := because(u.ctx, err, u.from)
	var none *age.NoIdentityMatchError
	switch {
	case !errors.Is(cause, err) || u.ctx.Err() != nil: // the file is another one, or could not be read
		return cause
	case errors.As(err, &none):
		return u.files.locked("the identity that was given is none of theirs: give another file with --identity")
	}
	return fmt.Errorf("the backup is damaged: %s: %w; restore another backup", u.from.name, err)
}

// ReadRecipients returns the recipients of age (age1…) in a list, and in files with one a line.
func ReadRecipients(list, paths []string) (all []age.Recipient, err error) {
	for _, text := range list {
		if strings.HasPrefix(strings.ToUpper(text), "AGE-SECRET-KEY-") {
			return nil, errors.New("--encrypt-to has an identity, which is secret; give its recipient, age1…, which age-keygen -y prints")
		}
		some, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil {
			return nil, errors.New("--encrypt-to must be a recipient of age: age1…, as age-keygen -y prints it")
		}
		all = append(all, some...)
	}
	for _, path := range paths {
		err := parsed(path, func(in io.Reader) error {
			some, err := age.ParseRecipients(in)
			all = append(all, some...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("--encrypt-to-file %s: %w; it must have recipients of age, age1…, one a line", path, err)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	if _, err = age.Encrypt(io.Discard, all...); err != nil { // kinds that age does not mix
		return nil, fmt.Errorf("--encrypt-to: %w", err)
	}
	return all, nil
}

// ReadIdentities returns the identities in files, as age-keygen makes them.
func ReadIdentities(paths []string) (all []age.Identity, err error) {
	for _, path := range paths {
		err := parsed(path, func(in io.Reader) error {
			some, err := age.ParseIdentities(in)
			all = append(all, some...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("--identity %s: %w; it must be a file of age-keygen, with AGE-SECRET-KEY-…; decrypt one that has a passphrase first, with age --decrypt", path, err)
		}
	}
	return all, nil
}

func parsed(path string, parse func(io.Reader) error) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(parse(in), in.Close())
}
