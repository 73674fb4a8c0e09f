//! How the judge measures less than the whole run: it looks at all its counts before the first event at or after each
//! instant that matters.

use super::*;

/// The counts of everything as of an instant. Maxima are those since the look before.
pub(super) struct Look {
    at: Time,
    flows: Vec<FlowLook>,
    ports: Vec<PortLook>,
    pub(super) virtual_sources: Vec<VirtualSourceSummary>,
    pub(super) tcp: Vec<TcpRow>,
    /// Frames left out, by direction.
    pub(super) skipped: Vec<u64>,
    policed: Vec<[u64; 4]>,
}

#[derive(Clone)]
struct FlowLook {
    row: FlowSummary,
    delays: Vec<u64>,
}

#[derive(Clone)]
struct PortLook {
    row: PortSummary,
    busy: Duration,
    queue_integral: u128,
}

impl Network<'_> {
    /// Looks at all counts as of `at`: everything before has happened, nothing else has.
    pub(super) fn look(&mut self, at: Time) {
        for number in 0..self.ports.len() {
            self.integrate_queue(at, number);
        }
        let look = self.counts(at);
        self.looks.push(look);
        if at == self.scenario.measuring.start() {
            self.policers.iter_mut().for_each(Policer::end_warm_up);
            self.points.values_mut().for_each(Point::end_warm_up);
        }
        for port in &mut self.ports {
            // A cell that leaves at this instant stands no longer.
            let leaves = port.transmitting.as_ref().filter(|_| port.transmitted_at == at);
            let leaving = leaves.map(|&(_, priority, _)| priority);
            port.max_queue = port.total() - usize::from(leaving.is_some());
            port.max_abr_queue = port.queue(1) - usize::from(leaving == Some(1));
        }
    }

    fn counts(&self, at: Time) -> Look {
        let in_flight = self.in_flight();
        let flow = |flow: usize| FlowLook {
            row: self.flow_summary(flow, in_flight[flow], at),
            delays: self.ends[flow ^ 1].delays.clone(),
        };
        let port = |number: usize| PortLook {
            row: self.port_summary(number, at),
            busy: self.busy_by(number, at),
            queue_integral: self.ports[number].queue_integral,
        };
        let frames = |flow: usize| self.ends[flow].supply.frames();
        Look {
            at,
            flows: (0..self.paths.len()).map(flow).collect(),
            ports: (0..self.ports.len()).map(port).collect(),
            virtual_sources: self.virtual_source_rows(Time::ZERO, at),
            tcp: (0..self.paths.len()).flat_map(|flow| self.tcp_rows(flow)).collect(),
            skipped: (0..self.paths.len())
                .map(|flow| frames(flow).map_or(0, |frames| frames.all(at).1))
                .collect(),
            policed: self.policed(),
        }
    }

    /// The look at the end of the warm-up.
    pub(super) fn warm_up(&self) -> Option<&Look> {
        self.looks.iter().find(|look| look.at == self.scenario.measuring.start())
    }

    /// The rows of policers over a span, at the end of the run.
    pub(super) fn policing_within(&self, start: Time, end: Time) -> Vec<PolicingSummary> {
        let now = (self.end, self.policed());
        let looks = self.looks.iter().map(|look| (look.at, look.policed.clone()));
        let looks: Vec<_> =
            [(Time::ZERO, vec![[0; 4]; now.1.len()])].into_iter().chain(looks).chain([now]).collect();
        let last =
            |by: Time| &looks.iter().rfind(|(at, _)| *at <= by).expect("there is that of the beginning").1;
        self.policing_rows_between(last(start), last(end))
    }

    /// The rows of directions and ports over a span, at the end of the run, and the delays of each direction in order.
    pub(super) fn rows(&self, start: Time, end: Time) -> (Vec<FlowSummary>, Vec<PortSummary>, Vec<Vec<u64>>) {
        let now = self.counts(self.end);
        let looks: Vec<&Look> = self.looks.iter().chain([&now]).filter(|look| look.at <= end).collect();
        let (before, within): (Vec<&Look>, Vec<&Look>) =
            looks.iter().copied().partition(|look| look.at <= start);
        let (before, last) = (before.last(), within.last().expect("one at its end"));
        let span = end.since(start);
        let (mut vcs, mut all_delays) = (Vec::new(), Vec::new());
        for (flow, FlowLook { row, delays }) in last.flows.iter().enumerate() {
            let before = before.map(|look| &look.flows[flow]);
            let grown = |of: fn(&FlowSummary) -> u64| of(row) - before.map_or(0, |before| of(&before.row));
            let grown_some = |of: fn(&FlowSummary) -> Option<u64>| {
                of(row).map(|now| now - before.map_or(0, |before| of(&before.row).expect("it has some")))
            };
            let data_delivered = grown(|row| row.data_delivered);
            let mut delays = delays[before.map_or(0, |before| before.delays.len())..].to_vec();
            delays.sort_unstable();
            let quantile = |share: f64| {
                let rank = (share * delays.len() as f64).ceil().max(1.0) as usize;
                delays.get(rank - 1).map(|&ps| ps as f64 / 1e12)
            };
            let sum: u128 = delays.iter().map(|&ps| u128::from(ps)).sum();
            if row.sent > 0 {
                vcs.push(FlowSummary {
                    sent: grown(|row| row.sent),
                    data_sent: grown(|row| row.data_sent),
                    delivered: grown(|row| row.delivered),
                    data_delivered,
                    dropped: grown(|row| row.dropped),
                    forward_rm_sent: grown(|row| row.forward_rm_sent),
                    backward_rm_received: grown(|row| row.backward_rm_received),
                    throughput_bps: data_delivered as f64 * 424.0 / span.as_secs_f64(),
                    mean_acr: row.mean_acr.map(|_| self.ends[flow].mean_acr(start, end)),
                    idle_resets: grown_some(|row| row.idle_resets),
                    cutoff_decreases: grown_some(|row| row.cutoff_decreases),
                    uili_decreases: grown_some(|row| row.uili_decreases),
                    mean_delay_s: (!delays.is_empty()).then(|| sum as f64 / delays.len() as f64 / 1e12),
                    p50_delay_s: quantile(0.5),
                    p99_delay_s: quantile(0.99),
                    max_delay_s: quantile(1.0),
                    ..row.clone()
                });
                all_delays.push(delays);
            }
        }
        let mut ports = Vec::new();
        for (number, PortLook { row, busy, queue_integral }) in last.ports.iter().enumerate() {
            let before = before.map(|look| &look.ports[number]);
            let grown = |of: fn(&PortSummary) -> u64| of(row) - before.map_or(0, |before| of(&before.row));
            let max = |of: fn(&PortSummary) -> u64| {
                within.iter().map(|look| of(&look.ports[number].row)).max().unwrap_or(0)
            };
            let busy = busy.as_ps() - before.map_or(0, |before| before.busy.as_ps());
            let integral = queue_integral - before.map_or(0, |before| before.queue_integral);
            if row.transmitted > 0 || row.dropped > 0 {
                ports.push(PortSummary {
                    transmitted: grown(|row| row.transmitted),
                    utilization: busy as f64 / span.as_ps() as f64,
                    max_queue: max(|row| row.max_queue),
                    mean_queue: integral as f64 / span.as_ps() as f64,
                    max_abr_queue: max(|row| row.max_abr_queue),
                    dropped: grown(|row| row.dropped),
                    tagged_dropped: grown(|row| row.tagged_dropped),
                    backward_rm_originated: grown(|row| row.backward_rm_originated),
                    pdus_refused: grown(|row| row.pdus_refused),
                    pdus_cut: grown(|row| row.pdus_cut),
                    ..row.clone()
                });
            }
        }
        (vcs, ports, all_delays)
    }
}
