//! What the judge says in the end: the rows of connections and ports, worked out from what it counted.

use super::*;

impl Network<'_> {
    pub(super) fn judgement(mut self) -> Judgement {
        for number in 0..self.ports.len() {
            self.integrate_queue(self.end, number);
        }
        let mut in_flight: Vec<u64> = (0..self.paths.len()).map(|flow| self.waiting_inside(flow)).collect();
        for event in &self.events {
            if let Happening::Arrival(_, cell) = &event.happening {
                in_flight[cell.flow] += 1;
            }
        }
        for port in &self.ports {
            let transmitting = port.transmitting.iter().map(|(cell, ..)| cell);
            port.waiting.iter().flatten().chain(transmitting).for_each(|cell| in_flight[cell.flow] += 1);
        }
        let vcs = (0..self.paths.len()).map(|flow| self.flow_summary(flow, in_flight[flow]));
        let vcs = vcs.filter(|row| row.sent > 0).collect();
        let ports = (0..self.ports.len()).map(|number| self.port_summary(number));
        let ports: Vec<_> = ports.filter(|row| row.transmitted > 0 || row.dropped > 0).collect();
        let frames = (0..self.paths.len()).filter_map(|flow| self.frame_row(flow, in_flight[flow])).collect();
        let tcp = (0..self.paths.len()).flat_map(|flow| self.tcp_rows(flow)).collect();
        Judgement {
            vcs,
            tcp,
            frames,
            cell_hops: ports.iter().map(|row| row.transmitted).sum(),
            ports,
            virtual_sources: self.virtual_source_rows(),
            series: self.records.into_iter().map(|record| (record.times_ps, record.values)).collect(),
        }
    }

    /// What results call a direction.
    pub(super) fn name_of(&self, flow: usize) -> String {
        self.scenario.connections[flow / 2].name.clone() + if flow % 2 == 1 { " (back)" } else { "" }
    }

    fn flow_summary(&self, flow: usize, in_flight: u64) -> FlowSummary {
        let (sender, receiver) = (&self.ends[flow], &self.ends[flow ^ 1]);
        let connection = &self.scenario.connections[flow / 2];
        let duration_s = self.scenario.duration.as_secs_f64();
        let mut delays = receiver.delays.clone();
        delays.sort_unstable();
        let quantile = |share: f64| {
            let rank = (share * delays.len() as f64).ceil().max(1.0) as usize;
            delays.get(rank - 1).map(|&ps| ps as f64 / 1e12)
        };
        let sum: u128 = delays.iter().map(|&ps| u128::from(ps)).sum();
        let statistics = sender.source.as_ref().map(Source::statistics);
        FlowSummary {
            vc: self.name_of(flow),
            category: match connection.category {
                Category::Cbr => "cbr",
                Category::Vbr => "vbr",
                Category::Abr => "abr",
                Category::Ubr => "ubr",
            },
            sent: sender.sent,
            data_sent: sender.data_sent,
            delivered: receiver.received,
            data_delivered: receiver.data_received,
            dropped: sender.dropped,
            in_flight,
            forward_rm_sent: sender.forward_rm_sent,
            backward_rm_received: sender.backward_rm_received,
            throughput_bps: receiver.data_received as f64 * 424.0 / duration_s,
            mean_acr: sender.source.as_ref().map(|_| sender.mean_acr(self.end)),
            final_acr: sender.source.as_ref().map(|source| source.acr().as_cells_per_s()),
            idle_resets: statistics.map(|s| s.idle_resets),
            cutoff_decreases: statistics.map(|s| s.cutoff_decreases),
            uili_decreases: statistics.map(|s| s.uili_decreases),
            mean_delay_s: (!delays.is_empty()).then(|| sum as f64 / delays.len() as f64 / 1e12),
            p50_delay_s: quantile(0.5),
            p99_delay_s: quantile(0.99),
            max_delay_s: quantile(1.0),
        }
    }

    /// What is sent this way: transfers, then each client's, or server's, side.
    fn tcp_rows(&self, flow: usize) -> Vec<TcpRow> {
        let name = self.name_of(flow);
        let (Some(near), Some(far)) = (&self.ends[flow].tcp, &self.ends[flow ^ 1].tcp) else {
            return Vec::new();
        };
        let mut sides: Vec<(Tally, u64)> = Vec::new();
        for (sender, receiver) in near.stack.senders().iter().zip(far.stack.receivers()) {
            sides.push((Tally::of(sender), receiver.delivered().0));
        }
        for (client, server) in near.stack.clients().iter().zip(far.stack.servers()) {
            sides.push((client.tally(), server.tally().delivered.0));
        }
        for (server, client) in near.stack.servers().iter().zip(far.stack.clients()) {
            sides.push((server.tally(), client.tally().delivered.0));
        }
        let row =
            |(number, (tally, delivered))| (name.clone(), number, tally, delivered, far.whole, far.spoiled);
        (1..).zip(sides).map(row).collect()
    }

    fn port_summary(&self, number: usize) -> PortSummary {
        let port = &self.ports[number];
        let ends = self.scenario.links[number / 2].ends;
        let [near, far] =
            [number % 2, 1 - number % 2].map(|end| &self.scenario.nodes[ends[end].0 as usize].name);
        let duration = self.end.as_ps() as f64;
        PortSummary {
            port: format!("{near}->{far}"),
            transmitted: port.transmitted,
            utilization: port.busy_by(self.end).as_ps() as f64 / duration,
            max_queue: port.max_queue as u64,
            mean_queue: port.queue_integral as f64 / duration,
            max_abr_queue: port.max_abr_queue as u64,
            dropped: port.dropped,
            backward_rm_originated: port.originated.values().map(|instants| instants.len() as u64).sum(),
            pdus_refused: port.refused,
            pdus_cut: port.cut,
        }
    }
}
