package main

import (
	"context"
	"fmt"
	"time"

	"prejoin/pkg/sample"
)

// DemoCmd shows the whole way of the data on one screen.
type DemoCmd struct {
	Settlements int           `help:"How many settlements the sample shards are filled with." default:"200000" placeholder:"N"`
	Seed        uint64        `help:"The seed: the same one gives the same rows." default:"1" placeholder:"N"`
	Rate        float64       `help:"Transactions a second of the live workload." default:"200" placeholder:"R"`
	For         time.Duration `help:"How long the workload runs before the verification." default:"8s" placeholder:"DURATION"`
	Exit        bool          `help:"End after the verification: status 0, or 1 on a difference."`
}

// fewest settlements leave the largest merchant, with 2 %, some to change while
// the workload removes others.
const fewest = 200

// demo is what the run found out for the screen.
type demo struct {
	*local
	cmd      DemoCmd
	workload *sample.Workload
	lag      lag
	settled  time.Duration // from the pause of the workload until caught up
	verdict  verdict
}

// Run brings all up, works for a while, verifies, shows the screen and serves
// under a live workload until Ctrl-C.
func (c DemoCmd) Run(ctx context.Context, env *Env) error {
	if c.Settlements < fewest {
		return fmt.Errorf("demo: %d settlements are too few, the largest merchant would have next to none; give %d or more", c.Settlements, fewest)
	}
	l, err := bringUp(ctx, Flags{Settlements: c.Settlements, Seed: c.Seed}, newProgress(env.Stderr))
	if err != nil {
		return err
	}
	defer l.stop()
	d := &demo{local: l, cmd: c}
	if d.workload, err = sample.NewWorkload(sample.WorkloadConfig{Shards: l.dsns(), Rate: c.Rate, Seed: c.Seed}); err != nil {
		return err
	}
	if err := d.workAndVerify(ctx); err != nil {
		return err
	}
	return d.show(ctx, env)
}

// workAndVerify runs the workload while the lag is measured, pauses it, waits
// until its last change has arrived and compares every document.
func (d *demo) workAndVerify(ctx context.Context) error {
	d.sayf("the workload changes rows for %v, %.0f transactions a second", d.cmd.For, d.cmd.Rate)
	// A timer, not a deadline: drivers turn a deadline into their own time-outs,
	// which come before it and look like failures.
	work, pause := context.WithCancel(ctx)
	defer time.AfterFunc(d.cmd.For, pause).Stop()
	defer pause()
	ended := make(chan error, 1)
	go func() { ended <- d.workload.Run(work) }()
	lag, err := d.probeLag(work)
	pause()
	if failed := <-ended; failed != nil {
		return fmt.Errorf("running the workload: %w", failed)
	}
	if err != nil {
		return err
	}
	d.lag = lag
	from := time.Now()
	if err := d.catchUp(ctx); err != nil {
		return err
	}
	d.settled = time.Since(from)
	d.verdict, err = d.verify(ctx)
	return err
}

// show resumes the workload, prints the screen and serves.
func (d *demo) show(ctx context.Context, env *Env) error {
	if d.cmd.Exit {
		if err := d.screen(ctx, env.Stdout); err != nil {
			return err
		}
		return d.verdict.status()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := d.workload.Run(ctx); err != nil {
			cancel(fmt.Errorf("running the workload: %w", err))
		}
	}()
	err := d.screen(ctx, env.Stdout)
	if err == nil {
		err = d.serve(ctx)
	}
	cancel(nil)
	<-ended
	return err
}
