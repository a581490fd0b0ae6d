package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"prejoin/pkg/devstack"
)

// daemons are Prejoin's own processes.
type daemons struct {
	capture, projector, queryd *daemon
	url                        string // of queryd's API
}

// startDaemons starts them in the order that loses no change: capture first, for
// its slot must exist before the snapshot that the backfill reads.
func (l *local) startDaemons(ctx context.Context) error {
	for _, step := range []func(context.Context) error{l.startCapture, l.backfill, l.startProjector, l.startQueryd, l.createKey, l.catchUp} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (l *local) startCapture(ctx context.Context) (err error) {
	l.daemons.capture, err = l.startDaemon(ctx, program{"projector capture", []string{"projector", "capture"}, l.daemonEnv("prejoin_capture"), []string{"CAPTURE_ADMIN_ADDR"}})
	return err
}

func (l *local) backfill(ctx context.Context) error {
	if _, err := l.tool(ctx, l.daemonEnv("prejoin_projector"), "projector", "backfill"); err != nil {
		return err
	}
	l.say("the documents are backfilled")
	return nil
}

func (l *local) startProjector(ctx context.Context) (err error) {
	l.daemons.projector, err = l.startDaemon(ctx, program{"projector run", []string{"projector", "run"}, l.daemonEnv("prejoin_projector"), []string{"PROJECTOR_ADMIN_ADDR"}})
	return err
}

func (l *local) startQueryd(ctx context.Context) (err error) {
	l.daemons.queryd, err = l.startDaemon(ctx, program{"queryd", []string{"queryd", "serve"}, l.daemonEnv(""), []string{"QUERYD_ADMIN_ADDR", "QUERYD_LISTEN"}})
	if err == nil {
		l.daemons.url = l.daemons.queryd.url(1)
	}
	return err
}

var keyText = regexp.MustCompile(`\bpj_[A-Za-z0-9]+_[A-Za-z0-9_-]{43}`)

func (l *local) createKey(ctx context.Context) error {
	out, err := l.tool(ctx, l.daemonEnv(""), "queryd", "keys", "create", "--all", "--name", "devstack")
	if err != nil {
		return err
	}
	if l.key = keyText.FindString(out); l.key == "" {
		return errors.New("creating an API key: queryd keys create printed none (pj_…); see its help")
	}
	return nil
}

// daemonEnv is the environment of a daemon: the shards as the role that it
// needs and no more; none for queryd, which has no business there.
func (l *local) daemonEnv(role string) []string {
	env := withoutShards(os.Environ())
	for _, line := range l.stack.Env() {
		if !strings.HasPrefix(line, "SHARD") {
			env = append(env, line)
		}
	}
	if role != "" {
		for i, p := range l.stack.Shards {
			env = append(env, fmt.Sprintf("SHARD%d_DSN=%s", i, p.DSNAs(role, devstack.RolePassword(p.Password, role), p.Name)))
		}
	}
	return append(env, models()...)
}

// models points at the bundled models from wherever devstack runs, unless the
// user chose others.
func models() []string {
	root, err := devstack.SourceRoot()
	if err != nil || os.Getenv("READMODELS") != "" {
		return nil
	}
	return []string{"READMODELS=" + filepath.Join(root, "readmodels")}
}

func withoutShards(environ []string) (kept []string) {
	for _, line := range environ {
		if !strings.HasPrefix(line, "SHARD") {
			kept = append(kept, line)
		}
	}
	return kept
}

func (d *daemons) environ(key string) []string {
	return []string{
		"QUERYD_URL=" + d.url, "QUERYD_ADMIN_URL=" + d.queryd.admin, "PROJECTOR_ADMIN_URL=" + d.projector.admin,
		"QUERYD_PID=" + strconv.Itoa(d.queryd.PID()), "PROJECTOR_PID=" + strconv.Itoa(d.projector.PID()),
		"CAPTURE_PID=" + strconv.Itoa(d.capture.PID()), "API_KEY=" + key,
	}
}

// ended hands out each daemon when it ends, until ctx is done. It is never closed.
func (d *daemons) ended(ctx context.Context) <-chan *daemon {
	ended := make(chan *daemon, 3)
	for _, one := range []*daemon{d.capture, d.projector, d.queryd} {
		if one == nil { // bare
			continue
		}
		go func() {
			select {
			case <-one.Done():
				ended <- one
			case <-ctx.Done():
			}
		}()
	}
	return ended
}

// stop ends the readers before what feeds them.
func (d *daemons) stop(say devstack.Progress) {
	var readers sync.WaitGroup
	for _, one := range []*daemon{d.queryd, d.projector} {
		readers.Go(func() { one.end(say) })
	}
	readers.Wait()
	d.capture.end(say)
}
