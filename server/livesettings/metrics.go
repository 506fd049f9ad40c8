package livesettings

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// The process has one configuration, so the metrics have no labels.
var (
	lastSuccessful = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_config_last_reload_successful",
		Help: "1 if the last reload of the configuration succeeded, or there was none; 0 if it was refused.",
	})
	lastSuccess = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_config_last_reload_success_timestamp_seconds",
		Help: "Unix time at which the configuration was last loaded, at the start or by a reload that succeeded.",
	})
	needRestart = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_config_changes_need_restart",
		Help: "Settings that had other values at the last reload, and change when the server starts again.",
	})
)

// succeeded records that the configuration was loaded, and how many settings need a restart.
func succeeded(pending int) {
	lastSuccessful.Set(1)
	lastSuccess.SetToCurrentTime()
	needRestart.Set(float64(pending))
}

// refused records that a reload was refused.
func refused() { lastSuccessful.Set(0) }
