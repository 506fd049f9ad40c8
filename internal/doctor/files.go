package doctor

import (
	"errors"
	"fmt"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/connect"
	"github.com/freshet/freshet/social/postgres"
)

// Files reads the files that settings name, of keys and of certificates. The error names
// every setting whose file cannot be used.
func Files(cfg configs.Config) error {
	errs := []error{connect.CheckFiles(cfg)}
	if cfg.Auth.Mode == configs.ModeJWT && cfg.Auth.JWT.JWKS != "" {
		errs = append(errs, handler.CheckKeys(cfg.Auth.JWT.JWKS))
	}
	if cfg.UsesPostgres() {
		if err := (postgres.Config{URL: cfg.Postgres.URL}).Check(); err != nil {
			errs = append(errs, fmt.Errorf("postgres.url: %w", err))
		}
	}
	return errors.Join(errs...)
}

// lookAtKeys says which files cannot be used, where there are any.
func (d *doctor) lookAtKeys() {
	if err := Files(d.cfg); err != nil {
		d.say(Broken, "files", "correct the setting, or the file, which this user must be able to read", "%v", err)
	}
}
