//! The judge's series, and its rows of connections and ports, worked out from what it counted.

use super::*;

impl Network<'_> {
    /// A series has its next value.
    pub(super) fn on_sample(&mut self, now: Time, probe: usize) {
        let value = self.value(now, probe);
        let record = &mut self.records[probe];
        record.times_ps.push(now.as_ps());
        record.values.push(value);
        record.last_time = now;
        if let Every::Interval(interval) = self.scenario.probes[probe].every {
            self.plan(now.saturating_add(interval), Happening::Sample(probe));
        }
    }

    /// `now` is over.
    pub(super) fn note_changes(&mut self, now: Time) {
        for probe in 0..self.records.len() {
            if self.scenario.probes[probe].every == Every::Change {
                let value = self.value(now, probe);
                let record = &mut self.records[probe];
                if record.values.last() != Some(&value) {
                    record.times_ps.push(now.as_ps());
                    record.values.push(value);
                }
            }
        }
    }

    pub(super) fn judgement(mut self) -> Judgement {
        for number in 0..self.ports.len() {
            self.integrate_queue(self.end, number);
        }
        let in_flight = self.in_flight();
        let start = self.scenario.measuring.start();
        let (vcs, ports, delays) = self.rows(start, self.end);
        let windows = self.scenario.measuring.windows.iter();
        let rows = |span: Span| {
            let (vcs, ports, _) = self.rows(span.start, span.end);
            (vcs, ports)
        };
        let windows = windows.map(|window| rows(window.span)).collect();
        let spans = self.scenario.measuring.windows.iter().map(|window| window.span);
        let policing_windows = spans.map(|span| self.policing_within(span.start, span.end)).collect();
        let frames = (0..self.paths.len()).filter_map(|flow| self.frame_row(flow, in_flight[flow])).collect();
        let mut virtual_sources = self.virtual_source_rows(start, self.end);
        virtual_sources.retain(|row| row.data_received > 0);
        let before = self.warm_up().map_or(&[][..], |look| &look.virtual_sources);
        for row in &mut virtual_sources {
            let same =
                |before: &&VirtualSourceSummary| (&before.vc, &before.switch) == (&row.vc, &row.switch);
            let Some(before) = before.iter().find(same) else { continue };
            row.data_received -= before.data_received;
            row.data_sent -= before.data_sent;
            row.forward_rm_sent -= before.forward_rm_sent;
            row.backward_rm_received -= before.backward_rm_received;
            row.idle_resets -= before.idle_resets;
            row.cutoff_decreases -= before.cutoff_decreases;
            row.uili_decreases -= before.uili_decreases;
        }
        let policing = self.policing_rows();
        let branch_points = self.branch_point_rows();
        let loopbacks = self.loopback_rows();
        let channels = self.channel_rows();
        for (probe, columns) in self.series_of_demands() {
            (self.records[probe].times_ps, self.records[probe].values) = columns;
        }
        let tcp: Vec<TcpRow> = (0..self.paths.len()).flat_map(|flow| self.tcp_rows(flow)).collect();
        let tcp_before = self.warm_up().map(|look| look.tcp.clone());
        let since = |(place, row)| tcp_since(row, tcp_before.as_ref().map(|rows| &rows[place]));
        let tcp_measured: Vec<TcpRow> = tcp.iter().enumerate().map(since).collect();
        Judgement {
            derived: self.derived(&vcs, &tcp_measured),
            vcs,
            delays,
            tcp,
            tcp_before,
            frames,
            transport_streams: (0..self.paths.len())
                .filter_map(|flow| self.transport_stream_row(flow))
                .collect(),
            flows: self.demand_rows(),
            completions: self.completion_rows(),
            cell_hops: self.ports.iter().map(|port| port.transmitted).sum(),
            ports,
            windows,
            policing_windows,
            virtual_sources,
            policing,
            branch_points,
            loopbacks,
            channels,
            series: self.records.into_iter().map(|record| (record.times_ps, record.values)).collect(),
        }
    }

    /// Cells of each direction on links and in ports, and inside switches.
    pub(super) fn in_flight(&self) -> Vec<u64> {
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
        in_flight
    }

    /// Name of a direction in results.
    pub(super) fn name_of(&self, flow: usize) -> String {
        self.scenario.connections[flow / 2].name.clone() + if flow % 2 == 1 { " (back)" } else { "" }
    }

    /// The row as of `at`, over all the time before.
    pub(super) fn flow_summary(&self, flow: usize, in_flight: u64, at: Time) -> FlowSummary {
        let (sender, receiver) = (&self.ends[flow], &self.ends[flow ^ 1]);
        let connection = &self.scenario.connections[flow / 2];
        let duration_s = at.as_secs_f64();
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
                Category::Gfr => "gfr",
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
            mean_acr: sender.source.as_ref().map(|_| sender.mean_acr(Time::ZERO, at)),
            final_acr: sender.source.as_ref().map(|source| source.acr().as_cells_per_s()),
            idle_resets: statistics.map(|s| s.idle_resets),
            cutoff_decreases: statistics.map(|s| s.cutoff_decreases),
            uili_decreases: statistics.map(|s| s.uili_decreases),
            mean_delay_s: (!delays.is_empty()).then(|| sum as f64 / delays.len() as f64 / 1e12),
            p50_delay_s: quantile(0.5),
            p99_delay_s: quantile(0.99),
            max_delay_s: quantile(1.0),
            delays: None,
        }
    }

    /// Rows of TCP that is sent this way: transfers, then each client's, or server's, side.
    pub(super) fn tcp_rows(&self, flow: usize) -> Vec<TcpRow> {
        let name = self.name_of(flow);
        let (Some(near), Some(far)) = (&self.ends[flow].tcp, &self.ends[flow ^ 1].tcp) else {
            return Vec::new();
        };
        let mut sides: Vec<(Tally, u64)> = Vec::new();
        if let (true, Some(sent), Some(come)) =
            (near.stack.sends_flows(), near.stack.successive(), far.stack.successive())
        {
            let tally = Tally { marked: come.marked, ..sent };
            return vec![(name, 1, tally, come.delivered.0, far.whole, far.spoiled)];
        }
        for (sender, receiver) in near.stack.senders().iter().zip(far.stack.receivers()) {
            sides.push((Tally { marked: receiver.marked(), ..Tally::of(sender) }, receiver.delivered().0));
        }
        for (client, server) in near.stack.clients().iter().zip(far.stack.servers()) {
            let far = server.tally();
            sides.push((Tally { marked: far.marked, ..client.tally() }, far.delivered.0));
        }
        for (server, client) in near.stack.servers().iter().zip(far.stack.clients()) {
            let far = client.tally();
            sides.push((Tally { marked: far.marked, ..server.tally() }, far.delivered.0));
        }
        let row =
            |(number, (tally, delivered))| (name.clone(), number, tally, delivered, far.whole, far.spoiled);
        (1..).zip(sides).map(row).collect()
    }

    /// Name of a port in results.
    pub(super) fn port_name(&self, number: usize) -> String {
        let cellrate_scenario::Link { ends, label, .. } = &self.scenario.links[number / 2];
        let label = label.as_ref().map(|label| format!(" ({label})")).unwrap_or_default();
        let [near, far] =
            [number % 2, 1 - number % 2].map(|end| &self.scenario.nodes[ends[end].0 as usize].name);
        format!("{near}->{far}{label}")
    }

    /// The row as of `at`, over all the time before.
    pub(super) fn port_summary(&self, number: usize, at: Time) -> PortSummary {
        let port = &self.ports[number];
        let duration = at.as_ps() as f64;
        PortSummary {
            port: self.port_name(number),
            transmitted: port.transmitted,
            utilization: self.busy_by(number, at).as_ps() as f64 / duration,
            max_queue: port.max_queue as u64,
            mean_queue: port.queue_integral as f64 / duration,
            max_abr_queue: port.max_abr_queue as u64,
            dropped: port.dropped,
            tagged_dropped: port.tagged_dropped,
            backward_rm_originated: port.originated.values().map(|instants| instants.len() as u64).sum(),
            pdus_refused: port.refused,
            pdus_cut: port.cut,
        }
    }
}

impl End {
    /// Each value of ACR by the time for which it held.
    pub(super) fn mean_acr(&self, start: Time, end: Time) -> f64 {
        let mut sum = 0.0;
        for (place, &(since, acr)) in self.acr.iter().enumerate() {
            let until = self.acr.get(place + 1).map_or(end, |&(next, _)| next).min(end);
            sum += acr * until.since(since.max(start)).as_ps() as f64;
        }
        sum / end.since(start).as_ps() as f64
    }
}

impl Record {
    pub(super) fn growth_per_s(&mut self, now: Time, count: u64) -> f64 {
        let (grown, span) = (count - self.last_count, now.since(self.last_time));
        self.last_count = count;
        if span == Duration::ZERO { 0.0 } else { grown as f64 / span.as_secs_f64() }
    }
}

impl Network<'_> {
    pub(super) fn value(&mut self, now: Time, probe: usize) -> f64 {
        match self.scenario.probes[probe].quantity {
            Quantity::Flow { .. } | Quantity::VirtualSource { .. } => {
                let (quantity, flow) = self.sender_of(self.scenario.probes[probe].quantity);
                let end = &self.ends[flow];
                match quantity {
                    FlowQuantity::Acr => end.source.as_ref().map_or(0.0, |s| s.acr().as_cells_per_s()),
                    FlowQuantity::SourceRate => self.records[probe].growth_per_s(now, end.sent),
                    FlowQuantity::Received => self.ends[flow ^ 1].data_received as f64,
                    FlowQuantity::SourceQueue => match &end.relay {
                        Some(relay) => relay.waiting() as f64,
                        None => end.supply.waiting(now).unwrap_or(0) as f64,
                    },
                    FlowQuantity::Delay | FlowQuantity::MaxDelay => {
                        let delays = &self.ends[flow ^ 1].delays;
                        let record = &mut self.records[probe];
                        let new = &delays
                            [std::mem::replace(&mut record.last_count, delays.len() as u64) as usize..];
                        let sum: u128 = new.iter().map(|&ps| u128::from(ps)).sum();
                        match (quantity, new.iter().max()) {
                            (_, None) => f64::NAN,
                            (FlowQuantity::MaxDelay, Some(&largest)) => largest as f64 / 1e12,
                            _ => sum as f64 / new.len() as f64 / 1e12,
                        }
                    }
                    FlowQuantity::Drops => end.dropped as f64,
                    FlowQuantity::LoopbackTime => self.last_trips.get(&flow).copied().unwrap_or(0.0),
                    FlowQuantity::ForwardRm => end.forward_rm_sent as f64,
                    FlowQuantity::BackwardRm => end.backward_rm_received as f64,
                    FlowQuantity::Cwnd
                    | FlowQuantity::Rtt
                    | FlowQuantity::Retransmissions
                    | FlowQuantity::Responses
                    | FlowQuantity::ResponseTime => {
                        tcp_value(quantity, &end.tcp.as_ref().expect("the direction has TCP").stack)
                    }
                }
            }
            Quantity::Port { quantity, port } => {
                let busy = self.busy_by(port.index(), now);
                let port = &self.ports[port.index()];
                match quantity {
                    PortQuantity::Queue => port.total() as f64,
                    PortQuantity::GuaranteedQueue => port.queue(0) as f64,
                    PortQuantity::AbrQueue => port.queue(1) as f64,
                    PortQuantity::UbrQueue => port.queue(2) as f64,
                    PortQuantity::Utilization => self.records[probe].growth_per_s(now, busy.as_ps()) * 1e-12,
                    PortQuantity::Drops => port.dropped as f64,
                    PortQuantity::Metric(place) => {
                        let mut figures = Vec::new();
                        port.control.metrics(|_, value| figures.push(value));
                        figures.get(usize::from(place)).copied().unwrap_or(0.0)
                    }
                }
            }
            // Worked out behind the run.
            Quantity::Demand { .. } => 0.0,
        }
    }
}
