package projector

func (p *Projector) laneConfig(l Lane) laneConfig {
	return laneConfig{
		refresher: l.Refresher, walker: l.Walker, asker: l.Asker, metrics: p.cfg.Metrics, shard: l.Shard, model: l.Model.Name,
		fanout: func(route int) bool { return l.Model.Routes[route].Fanout },
		batch:  p.cfg.BatchIDs, bytes: p.cfg.BatchBytes, linger: p.cfg.Linger, workers: p.cfg.Workers,
	}
}
