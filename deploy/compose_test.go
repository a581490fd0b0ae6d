// Package deploy_test checks what the Compose file and the files it mounts say
// about each other and about our programs. The file's grammar is checked by
// `make compose`. Neither starts a container.
package deploy_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"

	"prejoin/pkg/sample"
)

type compose struct {
	Services map[string]service
	Volumes  map[string]any
}

type service struct {
	Image       string
	Command     any
	Entrypoint  []string
	Environment map[string]any
	Volumes     []string
	Ports       []string
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck struct{ Test []string }
	Restart     string
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func load(t *testing.T) compose {
	t.Helper()
	var c compose
	if err := yaml.Unmarshal([]byte(read(t, "docker-compose.yml")), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Services) < 8 {
		t.Fatalf("only %d services were read", len(c.Services))
	}
	return c
}

func TestImagesArePinned(t *testing.T) {
	pinned := regexp.MustCompile(`^[a-z0-9./-]+:v?[0-9]+\.[0-9]+\.?[0-9A-Za-z.-]*$`)
	for name, s := range load(t).Services {
		if s.Image != "prejoin:local" && !pinned.MatchString(s.Image) {
			t.Errorf("%s: the image %q has no version", name, s.Image)
		}
	}
}

func TestPortsAreBoundToLoopback(t *testing.T) {
	for name, s := range load(t).Services {
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s publishes %s to the whole network", name, p)
			}
		}
	}
}

func TestServicesWaitForWhatTheyNeed(t *testing.T) {
	c := load(t)
	for name, s := range c.Services {
		for on, d := range s.DependsOn {
			other, known := c.Services[on]
			switch {
			case !known:
				t.Errorf("%s waits for %s, which does not exist", name, on)
			case d.Condition == "service_healthy" && len(other.Healthcheck.Test) == 0:
				t.Errorf("%s waits for the health of %s, which has no healthcheck", name, on)
			case d.Condition == "service_completed_successfully" && other.Restart != "":
				t.Errorf("%s waits for the end of %s, which restarts", name, on)
			case d.Condition != "service_healthy" && d.Condition != "service_completed_successfully":
				t.Errorf("%s waits for %s by %q", name, on, d.Condition)
			}
		}
	}
}

func TestMountsExist(t *testing.T) {
	c := load(t)
	for name, s := range c.Services {
		for _, v := range s.Volumes {
			source, _, _ := strings.Cut(v, ":")
			if !strings.HasPrefix(source, "./") {
				if _, ok := c.Volumes[source]; !ok {
					t.Errorf("%s uses the volume %s, which is not declared", name, source)
				}
				continue
			}
			if _, err := os.Stat(filepath.Join("..", source)); err != nil {
				t.Errorf("%s mounts %s: %v", name, source, err)
			}
			if !strings.HasSuffix(v, ":ro") {
				t.Errorf("%s may write to %s", name, source)
			}
		}
	}
}

func TestVariablesAreExplained(t *testing.T) {
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$\{([A-Z_0-9]+)`).FindAllStringSubmatch(read(t, "docker-compose.yml"), -1) {
		used[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^([A-Z_0-9]+)=`).FindAllStringSubmatch(read(t, ".env.example"), -1) {
		if !used[m[1]] {
			t.Errorf(".env.example sets %s, which nothing uses", m[1])
		}
		delete(used, m[1])
	}
	for name := range used {
		t.Errorf(".env.example does not explain %s", name)
	}
	if !strings.Contains(read(t, ".gitignore"), "/.env\n") {
		t.Error("git does not ignore .env")
	}
}

func TestOurContainersHaveNoRights(t *testing.T) {
	for name, s := range load(t).Services {
		if s.Image == "prejoin:local" && (!s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"})) {
			t.Errorf("%s has a writable file system or capabilities", name)
		}
	}
	if !regexp.MustCompile(`(?m)^USER [1-9]`).MatchString(read(t, "Dockerfile")) {
		t.Error("the image runs as root")
	}
}

// Each command that Compose runs in our image must be one that the program
// knows, with flags and environment variables that its help names.
func TestCommandsAndVariablesAreReal(t *testing.T) {
	bin := programs(t)
	for name, s := range load(t).Services {
		if s.Image != "prejoin:local" || name == "seed" {
			continue
		}
		command := words(t, s.Command)
		help, err := exec.Command(filepath.Join(bin, command[0]), command[1], "--help").CombinedOutput()
		if err != nil {
			t.Errorf("%s runs %q: %v\n%s", name, command, err, help)
			continue
		}
		for _, word := range command[2:] {
			if strings.HasPrefix(word, "--") && !strings.Contains(string(help), word) {
				t.Errorf("%s gives %s, which %s %s does not know", name, word, command[0], command[1])
			}
		}
		for variable := range s.Environment {
			if !shardDSN.MatchString(variable) && !strings.Contains(string(help), "$"+variable) {
				t.Errorf("%s sets %s, which %s %s does not read", name, variable, command[0], command[1])
			}
		}
	}
}

// The seed's script depends on a command, a flag and the words of an error.
func TestTheSeedScriptKnowsDevstack(t *testing.T) {
	script := read(t, "deploy/seed.sh")
	help, err := exec.Command(filepath.Join(programs(t), "devstack"), "seed", "--help").CombinedOutput()
	if err != nil || !strings.Contains(script, "devstack seed --settlements") || !strings.Contains(string(help), "--settlements") {
		t.Errorf("devstack seed has no flag --settlements: %v\n%s", err, help)
	}
	if !strings.Contains(script, `"`+strings.TrimPrefix(sample.ErrNotEmpty.Error(), "the shard ")+`"`) {
		t.Errorf("the script does not look for the words of %q", sample.ErrNotEmpty)
	}
}

var shardDSN = regexp.MustCompile(`^SHARD[0-9]+_DSN$`)

func words(t *testing.T, command any) []string {
	t.Helper()
	list, ok := command.([]any)
	if !ok || len(list) < 2 {
		t.Fatalf("the command %v is no list of a program and its command", command)
	}
	words := make([]string, len(list))
	for i, w := range list {
		words[i], _ = w.(string)
	}
	return words
}

// programs is a folder with our programs, built once.
func programs(t *testing.T) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return bin
}

var (
	bin   string
	build = sync.OnceValue(func() error {
		if out, err := exec.Command("go", "build", "-o", bin+"/", "../cmd/...").CombinedOutput(); err != nil {
			return fmt.Errorf("building the programs: %w\n%s", err, out)
		}
		return nil
	})
)

func TestMain(m *testing.M) {
	var err error
	if bin, err = os.MkdirTemp("", "prejoin-deploy-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(bin)
	os.Exit(code)
}

func TestPrometheusAsksWhereTheDaemonsAnswer(t *testing.T) {
	var config struct {
		ScrapeConfigs []struct {
			JobName       string                       `yaml:"job_name"`
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/prometheus/prometheus.yml")), &config); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, job := range config.ScrapeConfigs {
		for _, s := range job.StaticConfigs {
			for _, target := range s.Targets {
				asked[target] = true
			}
		}
	}
	for name, s := range load(t).Services {
		for variable, address := range s.Environment {
			if strings.HasSuffix(variable, "_ADMIN_ADDR") {
				host, port, err := net.SplitHostPort(address.(string))
				if err != nil || host != "0.0.0.0" {
					t.Errorf("%s of %s is %s, which Prometheus cannot reach", variable, name, address)
				}
				target := net.JoinHostPort(name, port)
				if !asked[target] {
					t.Errorf("Prometheus does not ask %s", target)
				}
				if !slices.ContainsFunc(s.Healthcheck.Test, func(w string) bool { return strings.Contains(w, "127.0.0.1:"+port+"/readyz") }) {
					t.Errorf("the healthcheck of %s does not ask %s", name, address)
				}
				delete(asked, target)
			}
		}
	}
	for target := range asked {
		t.Errorf("Prometheus asks %s, where nobody answers", target)
	}
}

func TestConnectorsPublishWhatTheProjectorNeeds(t *testing.T) {
	for _, shard := range []string{"shard0", "shard1"} {
		var config map[string]string
		if err := json.Unmarshal([]byte(read(t, "deploy/debezium/"+shard+".json")), &config); err != nil {
			t.Fatalf("%s: %v", shard, err)
		}
		want := map[string]string{
			"topic.prefix": shard, "database.hostname": shard, "database.dbname": shard,
			"slot.name": "prejoin", "publication.name": "prejoin", "publication.autocreate.mode": "disabled",
			"database.user": "prejoin_capture", "database.password": "${env:CAPTURE_PASSWORD}",
			"skipped.operations": "none",    // else truncates are left out
			"snapshot.mode":      "no_data", // the backfill reads the rows
		}
		for key, value := range want {
			if config[key] != value {
				t.Errorf("%s: %s is %q and must be %q", shard, key, config[key], value)
			}
		}
		if !strings.Contains(config["heartbeat.action.query"], "prejoin.heartbeat") {
			t.Errorf("%s: without heartbeat.action.query an idle shard's slot stands still", shard)
		}
	}
}

// A panel over a metric that nobody counts stays empty, which reads as health.
func TestTheDashboardShowsMetricsThatExist(t *testing.T) {
	source := ""
	for _, pattern := range []string{"../pkg/projector/*.go", "../pkg/refresh/*.go", "../pkg/httpapi/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			source += read(t, strings.TrimPrefix(f, "../"))
		}
	}
	dashboard := read(t, "deploy/grafana/dashboards/prejoin.json")
	if !json.Valid([]byte(dashboard)) {
		t.Fatal("the dashboard is no JSON")
	}
	shown := regexp.MustCompile(`prejoin_[a-z_]+`).FindAllString(dashboard, -1)
	if len(shown) < 10 {
		t.Fatalf("the dashboard shows only %q", shown)
	}
	for _, name := range shown {
		base := regexp.MustCompile(`_(bucket|sum)$`).ReplaceAllString(name, "")
		if !strings.Contains(source, `"`+base+`"`) && !strings.Contains(source, `"`+strings.TrimPrefix(base, "prejoin_queryd_")+`"`) {
			t.Errorf("no code counts %s", base)
		}
	}
	if !strings.Contains(read(t, "deploy/grafana/provisioning/datasources/prometheus.yml"), "uid: prometheus\n") {
		t.Error("the dashboard's data source is not provisioned")
	}
}
