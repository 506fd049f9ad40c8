// Package kubernetes checks the Helm chart, the manifests rendered from it, and the systemd units:
// against the types of the Kubernetes API, and against the configuration with which they start
// servers.
package kubernetes

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/freshet/freshet/configs"
)

var update = flag.Bool("update", false, "write the rendered manifests")

const deploy = "../../../deploy"

// variants are values that people choose, by name.
var variants = map[string]string{
	"default": "",
	"workers": "worker: {replicas: 2, nodeSelector: {disk: fast}}\nserver: {storage: {className: fast, size: 5Gi}}",
	"scaled":  "autoscaling: {enabled: true}\nserviceMonitor: {enabled: true, labels: {release: prometheus}}",
	"closed": "networkPolicy: {from: [{namespaceSelector: {matchLabels: {name: gateway}}}], egress: [{ports: [{port: 6379}]}]}\n" +
		"imagePullSecrets: [{name: registry}]\nfiles: [{secret: elastic-ca, path: /etc/elastic}]\n" +
		"config: {elasticsearch: {addresses: ['https://elastic:9200'], ca_cert: /etc/elastic/ca.crt}}",
	"meshed": "podLabels: {team: feed}\npodAnnotations: {linkerd.io/inject: enabled}\ndoctor: {podLabels: {team: ops}, podAnnotations: {linkerd.io/inject: disabled}}\n" +
		"files: [{configMap: company-ca, path: /etc/company}]\n" +
		"config: {server: {drain: 1m, shutdown_timeout: 1m30s}, redis: {url: 'rediss://redis:6379', ca_cert: /etc/company/ca.crt}}\nserver: {terminationGracePeriodSeconds: 160}",
	"bare": "doctor: {enabled: false}\nnetworkPolicy: {enabled: false}\npodDisruptionBudget: {enabled: false}\nsecrets: []\nconfig: {auth: {mode: header, trusted_gateway: true}}",
}

// serviceMonitor is the part of the type of Prometheus' operator that the chart uses.
type serviceMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector  metav1.LabelSelector `json:"selector"`
		Endpoints []struct {
			Port, Path  string
			Interval    metav1.Duration
			Relabelings []struct{ TargetLabel, Replacement string }
		} `json:"endpoints"`
	} `json:"spec"`
}

func (m *serviceMonitor) DeepCopyObject() runtime.Object { c := *m; return &c }

// kinds creates an object of each kind that the chart may have.
var kinds = map[string]func() runtime.Object{
	"apps/v1 StatefulSet": func() runtime.Object { return &appsv1.StatefulSet{} }, "apps/v1 Deployment": func() runtime.Object { return &appsv1.Deployment{} },
	"v1 Service": func() runtime.Object { return &corev1.Service{} }, "v1 ConfigMap": func() runtime.Object { return &corev1.ConfigMap{} },
	"v1 ServiceAccount": func() runtime.Object { return &corev1.ServiceAccount{} }, "batch/v1 Job": func() runtime.Object { return &batchv1.Job{} },
	"policy/v1 PodDisruptionBudget":           func() runtime.Object { return &policyv1.PodDisruptionBudget{} },
	"networking.k8s.io/v1 NetworkPolicy":      func() runtime.Object { return &networkingv1.NetworkPolicy{} },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() runtime.Object { return &autoscalingv2.HorizontalPodAutoscaler{} },
	"monitoring.coreos.com/v1 ServiceMonitor": func() runtime.Object { return &serviceMonitor{} },
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(filepath.Join(deploy, "helm"))
	require.NoError(t, err)
	return c
}

// render renders the chart as release freshet, in the order of the file names.
func render(t *testing.T, values string) (string, error) {
	t.Helper()
	given, err := chartutil.ReadValues([]byte(values))
	require.NoError(t, err)
	return renderAs(t, "freshet", given, cluster{})
}

// cluster is a Kubernetes that has these objects.
type cluster []runtime.Object

// GetClientFor implements [engine.ClientProvider].
func (c cluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	of := schema.FromAPIVersionAndKind(apiVersion, kind).GroupVersion().WithResource(strings.ToLower(kind) + "s")
	return fake.NewSimpleDynamicClient(scheme.Scheme, c...).Resource(of), true, nil
}

// renderAs renders the chart as a release of another name, in a cluster.
func renderAs(t *testing.T, release string, given map[string]any, in cluster) (string, error) {
	t.Helper()
	c := load(t)
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: release, Namespace: "default", IsInstall: true}, chartutil.DefaultCapabilities)
	require.NoError(t, err)
	files, err := engine.RenderWithClientProvider(c, all, in)
	if err != nil {
		return "", err
	}
	names := []string{}
	for name, text := range files {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(text) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out strings.Builder
	for _, name := range names {
		out.WriteString("---\n" + strings.TrimSpace(files[name]) + "\n")
	}
	return out.String(), nil
}

// objects decodes rendered manifests; a field that the API does not have is an error.
func objects(t *testing.T, text string) []runtime.Object {
	t.Helper()
	var list []runtime.Object
	for r := utilyaml.NewYAMLReader(newReader(text)); ; {
		document, err := r.Read()
		if err != nil {
			return list
		}
		if len(bytes.TrimSpace(document)) == 0 {
			continue
		}
		var is metav1.TypeMeta
		require.NoError(t, yaml.Unmarshal(document, &is))
		create := kinds[is.APIVersion+" "+is.Kind]
		require.NotNil(t, create, "%s %s", is.APIVersion, is.Kind)
		object := create()
		require.NoError(t, yaml.UnmarshalStrict(document, object), "%s", document)
		list = append(list, object)
	}
}

func TestChartLints(t *testing.T) {
	c := lint.All(filepath.Join(deploy, "helm"), map[string]any{}, "default", true)
	for _, m := range c.Messages {
		isIcon := strings.Contains(m.Err.Error(), "icon is recommended")
		assert.True(t, isIcon || m.Severity < support.WarningSev, "%s", m)
	}
	version, err := os.ReadFile("../../../VERSION")
	require.NoError(t, err)
	meta := load(t).Metadata
	assert.Equal(t, strings.TrimSpace(string(version)), meta.Version)
	assert.Equal(t, meta.Version, meta.AppVersion)
}

func TestChartRefusesServersWithoutServices(t *testing.T) {
	_, err := render(t, "config: {redis: {url: ''}}")
	require.ErrorContains(t, err, "config must have redis.url and elasticsearch.addresses")
}

// TestChartRefusesNumberAsTag checks values that are text: YAML reads 20261130 and 1.10 as numbers, and
// nobody can tell what was written.
func TestChartRefusesNumberAsTag(t *testing.T) {
	for _, tag := range []string{"20261130", "1.10", "true"} {
		_, err := render(t, "image: {tag: "+tag+"}")
		require.ErrorContains(t, err, "image.tag must be in quotes", tag)
	}
	text, err := render(t, "image: {tag: '20261130'}")
	require.NoError(t, err)
	assert.Contains(t, text, `image: "freshet:20261130"`)
}

// TestChartDoctorMayTakeLonger checks that a migration that takes longer than usual can have its time.
func TestChartDoctorMayTakeLonger(t *testing.T) {
	text, err := render(t, "doctor: {activeDeadlineSeconds: 3600000}")
	require.NoError(t, err)
	for _, o := range objects(t, text) {
		if job, ok := o.(*batchv1.Job); ok {
			assert.Equal(t, int64(3_600_000), *job.Spec.ActiveDeadlineSeconds)
			return
		}
	}
	t.Fatal("no job is rendered")
}

// TestChartUserMayBeLeftOut checks that nothing names a user, where the cluster chooses one: OpenShift
// refuses pods that name another.
func TestChartUserMayBeLeftOut(t *testing.T) {
	text, err := render(t, "podSecurityContext: {runAsUser: null, runAsGroup: null, fsGroup: null}\nworker: {replicas: 1}")
	require.NoError(t, err)
	pods := podsOf(objects(t, text))
	require.Len(t, pods, 3)
	for name, pod := range pods {
		security := pod.SecurityContext
		assert.Nil(t, security.RunAsUser, name)
		assert.Nil(t, security.RunAsGroup, name)
		assert.Nil(t, security.FSGroup, name)
		assert.True(t, *security.RunAsNonRoot, name)
		assert.Nil(t, pod.Containers[0].SecurityContext.RunAsUser, name)
	}
	text, err = render(t, "podSecurityContext: {runAsUser: 1000660000, fsGroup: 1000660000}")
	require.NoError(t, err)
	for name, pod := range podsOf(objects(t, text)) {
		assert.Equal(t, int64(1_000_660_000), *pod.SecurityContext.RunAsUser, name)
	}
}

// TestChartEnvironmentAndAccount checks that every pod, the doctor's as well, gets the variables and the
// account with which it reaches a bucket of images.
func TestChartEnvironmentAndAccount(t *testing.T) {
	text, err := render(t, "serviceAccountName: images\nworker: {replicas: 1}\n"+
		"env: [{name: AWS_ACCESS_KEY_ID, valueFrom: {secretKeyRef: {name: bucket, key: id}}}, {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: 'http://otel:4318'}]")
	require.NoError(t, err)
	pods := podsOf(objects(t, text))
	require.Len(t, pods, 3)
	for name, pod := range pods {
		assert.Equal(t, "images", pod.ServiceAccountName, name)
		found := map[string]corev1.EnvVar{}
		for _, e := range pod.Containers[0].Env {
			found[e.Name] = e
		}
		assert.Equal(t, "bucket", found["AWS_ACCESS_KEY_ID"].ValueFrom.SecretKeyRef.Name, name)
		assert.Equal(t, "http://otel:4318", found["OTEL_EXPORTER_OTLP_ENDPOINT"].Value, name)
		assert.Contains(t, found, "FRESHET_AUTH_ADMIN_TOKEN_FILE", name)
	}
}

// TestChartListensOnAllFamilies checks that pods answer where they have addresses of IPv6 alone.
func TestChartListensOnAllFamilies(t *testing.T) {
	text, err := render(t, "config: {server: {addr: '127.0.0.1:9000'}}")
	require.NoError(t, err)
	assert.Contains(t, text, "addr: :8080\n")
	assert.NotContains(t, text, "0.0.0.0")
}

// TestChartVolumes mounts a claim for erasures.file, in which each pod has a file of its own.
func TestChartVolumes(t *testing.T) {
	text, err := render(t, "worker: {replicas: 1}\n"+
		"volumes: [{path: /erasures, volume: {persistentVolumeClaim: {claimName: freshet-erasures}}}]\n"+
		"env: [{name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: FRESHET_ERASURES_FILE, value: /erasures/$(POD_NAME).ndjson}]")
	require.NoError(t, err)
	pods := podsOf(objects(t, text))
	require.Len(t, pods, 3)
	for name, pod := range pods {
		volume := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "freshet-erasures"
		})
		require.GreaterOrEqual(t, volume, 0, name)
		mount := slices.IndexFunc(pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == pod.Volumes[volume].Name })
		require.GreaterOrEqual(t, mount, 0, name)
		assert.Equal(t, "/erasures", pod.Containers[0].VolumeMounts[mount].MountPath)
		assert.False(t, pod.Containers[0].VolumeMounts[mount].ReadOnly)
	}
}

// TestChartPodMetadata checks that labels and annotations reach every pod, and that the doctor's can differ.
func TestChartPodMetadata(t *testing.T) {
	text, err := render(t, variants["meshed"]+"\nworker: {replicas: 1}")
	require.NoError(t, err)
	for _, o := range objects(t, text) {
		switch o := o.(type) {
		case *appsv1.StatefulSet:
			assert.Equal(t, "feed", o.Spec.Template.Labels["team"])
			assert.Equal(t, "enabled", o.Spec.Template.Annotations["linkerd.io/inject"])
			assert.NotEmpty(t, o.Spec.Template.Annotations["checksum/config"])
			assert.NotContains(t, o.Spec.Selector.MatchLabels, "team", "it cannot change")
		case *appsv1.Deployment:
			assert.Equal(t, "feed", o.Spec.Template.Labels["team"])
			assert.Equal(t, "enabled", o.Spec.Template.Annotations["linkerd.io/inject"])
		case *batchv1.Job:
			assert.Equal(t, "ops", o.Spec.Template.Labels["team"])
			assert.Equal(t, "disabled", o.Spec.Template.Annotations["linkerd.io/inject"])
			assert.Equal(t, "freshet", o.Spec.Template.Labels["app.kubernetes.io/name"])
		}
	}
	for _, pod := range podsOf(objects(t, text)) {
		assert.True(t, slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.ConfigMap != nil && v.ConfigMap.Name == "company-ca" }))
	}
}

// TestChartMonitorsAllProcesses checks that servers and workers are scraped, as one job: alerts on the queue add
// its workers up, and would say that there are none.
func TestChartMonitorsAllProcesses(t *testing.T) {
	text, err := render(t, "serviceMonitor: {enabled: true}\nworker: {replicas: 1}")
	require.NoError(t, err)
	all := objects(t, text)
	var selector labels.Selector
	for _, o := range all {
		m, ok := o.(*serviceMonitor)
		if !ok {
			continue
		}
		selector, err = metav1.LabelSelectorAsSelector(&m.Spec.Selector)
		require.NoError(t, err)
		require.Len(t, m.Spec.Endpoints, 1)
		require.Len(t, m.Spec.Endpoints[0].Relabelings, 1)
		assert.Equal(t, "job", m.Spec.Endpoints[0].Relabelings[0].TargetLabel)
		assert.Equal(t, "freshet", m.Spec.Endpoints[0].Relabelings[0].Replacement)
	}
	require.NotNil(t, selector)
	var scraped []string
	for _, o := range all {
		if s, ok := o.(*corev1.Service); ok && selector.Matches(labels.Set(s.Labels)) {
			scraped = append(scraped, s.Spec.Selector["app.kubernetes.io/component"])
		}
	}
	assert.ElementsMatch(t, []string{"server", "worker"}, scraped, "each process once")
}

// TestChartGrace checks that the chart is refused with settings that take longer to stop than the pod may.
func TestChartGrace(t *testing.T) {
	for values, needs := range map[string]string{
		"config: {server: {drain: 10s}}": "server.drain (10s) and server.shutdown_timeout (15s)",
		"config: {server: {drain: 1m, shutdown_timeout: 1m30s}}\nserver: {terminationGracePeriodSeconds: 150}": "server.drain (1m) and server.shutdown_timeout (1m30s)",
		"server: {terminationGracePeriodSeconds: 20}":                                                          "server.drain (5s) and server.shutdown_timeout (15s)",
		"config: {server: {shutdown_timeout: 1h}}":                                                             "server.shutdown_timeout (1h)",
	} {
		_, err := render(t, values)
		require.ErrorContains(t, err, "must be longer than", values)
		assert.ErrorContains(t, err, needs)
	}
	for _, values := range []string{
		"config: {server: {drain: 500ms, shutdown_timeout: 23s}}", "config: {server: {drain: 0}}", "config: {server: {drain: 0s, shutdown_timeout: 24s}}",
		"config: {server: {drain: 0.5m}}\nserver: {terminationGracePeriodSeconds: 46}",
	} {
		_, err := render(t, values)
		assert.NoError(t, err, values)
	}
}

// TestChartNames checks that each name and label is short enough for Kubernetes, and that a release whose name
// is too long is refused: its pods would never be created.
func TestChartNames(t *testing.T) {
	for _, release := range []string{"a", "freshet", strings.Repeat("a", 44), "freshet-" + strings.Repeat("a", 44)} {
		text, err := renderAs(t, release, map[string]any{"worker": map[string]any{"replicas": 1}}, cluster{})
		require.NoError(t, err, release)
		for _, o := range objects(t, text) {
			m := o.(metav1.Object)
			assert.LessOrEqual(t, len(m.GetName()), 63, m.GetName())
			if s, ok := o.(*appsv1.StatefulSet); ok {
				assert.LessOrEqual(t, len(s.Name+"-0123456789"), 63, "the label controller-revision-hash")
			}
		}
	}
	for _, release := range []string{strings.Repeat("a", 45), "freshet-" + strings.Repeat("a", 45)} {
		_, err := renderAs(t, release, nil, cluster{})
		require.ErrorContains(t, err, "has 53 characters, and 52 are allowed: choose a shorter name for the release")
	}
}

// TestChartStorageStays checks that an upgrade which would change the claims of the servers is refused with what
// to do, before anything is changed, and that the same claims in other words are not.
func TestChartStorageStays(t *testing.T) {
	values := func(size, class string) map[string]any {
		return map[string]any{"server": map[string]any{"storage": map[string]any{"size": size, "className": class}}}
	}
	installed := func(size, class string) cluster {
		text, err := renderAs(t, "freshet", values(size, class), cluster{})
		require.NoError(t, err)
		for _, o := range objects(t, text) {
			if s, ok := o.(*appsv1.StatefulSet); ok {
				s.Namespace = "default"
				return cluster{s}
			}
		}
		t.Fatal("there is no StatefulSet")
		return nil
	}
	for _, tt := range []struct{ size, class, newSize, newClass string }{
		{"2Gi", "", "2Gi", ""}, {"2Gi", "", "2048Mi", ""}, {"2Gi", "fast", "2Gi", "fast"}, {"2Gi", "fast", "2Gi", ""}, {"1.5G", "", "1500M", ""},
	} {
		_, err := renderAs(t, "freshet", values(tt.newSize, tt.newClass), installed(tt.size, tt.class))
		assert.NoError(t, err, "%+v", tt)
	}
	for _, tt := range []struct{ size, class, newSize, newClass string }{
		{"2Gi", "", "5Gi", ""}, {"2Gi", "", "2G", ""}, {"2Gi", "", "2Gi", "fast"}, {"2Gi", "fast", "2Gi", "slow"},
	} {
		_, err := renderAs(t, "freshet", values(tt.newSize, tt.newClass), installed(tt.size, tt.class))
		require.ErrorContains(t, err, "server.storage is fixed when the release is installed", "%+v", tt)
	}
}

// podsOf returns the pods of rendered objects by the name of what creates them.
func podsOf(all []runtime.Object) map[string]corev1.PodSpec {
	pods := map[string]corev1.PodSpec{}
	for _, o := range all {
		switch o := o.(type) {
		case *appsv1.StatefulSet:
			pods["server"] = o.Spec.Template.Spec
		case *appsv1.Deployment:
			pods["worker"] = o.Spec.Template.Spec
		case *batchv1.Job:
			pods["doctor"] = o.Spec.Template.Spec
		}
	}
	return pods
}

// TestChartPassesSettingsOn checks that settings arrive as they were written: Helm reads YAML 1.1, where
// on, off and n are booleans, and numbers as floats.
func TestChartPassesSettingsOn(t *testing.T) {
	text, err := render(t, "config: {impressions: {on: seen}, social: {off: true}, recall: {n: 300}, dedup: {daily_capacity: 20000000, false_positive_rate: 0.001}}")
	require.NoError(t, err)
	for _, o := range objects(t, text) {
		m, ok := o.(*corev1.ConfigMap)
		if !ok {
			continue
		}
		path := filepath.Join(t.TempDir(), "freshet.yaml")
		require.NoError(t, os.WriteFile(path, []byte(m.Data["freshet.yaml"]), 0o600))
		c, err := configs.Load(configs.Options{Path: path, Environ: []string{"FRESHET_AUTH_JWT_SECRET=" + strings.Repeat("s", 32)}})
		require.NoError(t, err)
		assert.Equal(t, "seen", c.Impressions.On)
		assert.True(t, c.Social.Off)
		assert.Equal(t, 300, c.Recall.N)
		assert.Equal(t, 20_000_000, c.Dedup.DailyCapacity)
		assert.InDelta(t, 0.001, c.Dedup.FalsePositiveRate, 0)
		return
	}
	t.Fatal("no configuration is rendered")
}

// TestChartRenders checks each variant: all objects are of the API, select what they should, and start
// servers with a configuration that they accept, without rights that they do not need.
func TestChartRenders(t *testing.T) {
	for name, values := range variants {
		t.Run(name, func(t *testing.T) {
			text, err := render(t, values)
			require.NoError(t, err)
			all := objects(t, text)
			config := ""
			for _, o := range all {
				if m, ok := o.(*corev1.ConfigMap); ok {
					config = m.Data["freshet.yaml"]
				}
			}
			seen := map[string]bool{}
			for _, o := range all {
				switch o := o.(type) {
				case *appsv1.StatefulSet:
					seen["server"] = true
					checkPod(t, o.Spec.Template, config)
					checkSelector(t, o.Spec.Selector, o.Spec.Template.Labels)
					require.Len(t, o.Spec.VolumeClaimTemplates, 1)
				case *appsv1.Deployment:
					seen["worker"] = true
					checkPod(t, o.Spec.Template, config)
					checkSelector(t, o.Spec.Selector, o.Spec.Template.Labels)
				case *batchv1.Job:
					seen["doctor"] = true
					checkPod(t, o.Spec.Template, config)
					assert.Contains(t, o.Annotations["helm.sh/hook"], "pre-upgrade")
				case *corev1.Service:
					of := map[bool]string{false: "server", true: "worker"}[o.Name == "freshet-workers"]
					assert.Equal(t, of, o.Spec.Selector["app.kubernetes.io/component"])
				}
			}
			assert.True(t, seen["server"])
			assert.Equal(t, name == "workers", seen["worker"])
			assert.Equal(t, name != "bare", seen["doctor"])
		})
	}
}

func checkSelector(t *testing.T, s *metav1.LabelSelector, labels map[string]string) {
	t.Helper()
	for key, value := range s.MatchLabels {
		assert.Equal(t, value, labels[key], key)
	}
}

// checkPod checks a pod, and loads the configuration as its process would.
func checkPod(t *testing.T, pod corev1.PodTemplateSpec, config string) {
	t.Helper()
	assert.True(t, *pod.Spec.SecurityContext.RunAsNonRoot)
	assert.False(t, *pod.Spec.AutomountServiceAccountToken)
	assert.False(t, *pod.Spec.EnableServiceLinks)
	require.Len(t, pod.Spec.Containers, 1)
	c := pod.Spec.Containers[0]
	assert.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
	assert.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
	assert.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
	assert.NotZero(t, c.Resources.Limits.Memory().Value())
	assert.Equal(t, "freshet:0.1.0", c.Image)
	volumes := map[string]bool{"data": true} // claimed
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = true
	}
	for _, m := range c.VolumeMounts {
		assert.True(t, volumes[m.Name], "%s is mounted, but is no volume", m.Name)
	}

	dir := t.TempDir()
	path := filepath.Join(dir, "freshet.yaml")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))
	var environ []string
	for _, e := range c.Env {
		value := e.Value
		if variable, isSecret := strings.CutPrefix(value, "/run/secrets/freshet/"); isSecret {
			value = filepath.Join(dir, variable)
			secret := strings.Repeat("s", 32)
			if variable == "POSTGRES_URL" {
				secret = "postgres://freshet@pg/freshet"
			}
			require.NoError(t, os.WriteFile(value, []byte(secret), 0o600))
		}
		environ = append(environ, e.Name+"="+value)
	}
	cfg, err := configs.Load(configs.Options{Path: path, Environ: environ})
	require.NoError(t, err)
	assert.False(t, configs.Loopback(cfg.Server.Addr))
	assert.True(t, slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == cfg.DataDir }))
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		grace := time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second
		assert.Greater(t, grace, cfg.Server.Drain+cfg.Server.ShutdownTimeout)
	}
	switch c.Args[0] {
	case "worker":
		assert.NotZero(t, cfg.Jobs.Workers)
	case "serve":
		assert.Equal(t, "/readyz", c.ReadinessProbe.HTTPGet.Path)
		assert.Equal(t, "/livez", c.LivenessProbe.HTTPGet.Path)
	}
}

// TestManifests checks that the plain manifests are the chart's with its default values.
func TestManifests(t *testing.T) {
	path := filepath.Join(deploy, "kubernetes.yaml")
	text, err := render(t, "")
	require.NoError(t, err)
	head := "# Rendered from deploy/helm with its default values, for clusters without Helm. Run the job before an\n# upgrade, and wait for it: kubectl delete job freshet-doctor; kubectl apply -f …\n"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(head+text), 0o600))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, head+text, string(written), "run the tests of this package with -update")
}
