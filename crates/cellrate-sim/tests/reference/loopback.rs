//! How the judge has ends send OAM loopback cells, and who answers them: it plans all requests from the beginning, and
//! keeps each with the instant of its reply.

use super::*;

/// Flaws that take loopback cells to tell.
pub const LOOPBACK_FLAWS: [(Flaw, u64); 3] =
    [(Flaw::LoopbackAfterSource, 1), (Flaw::LoopbackIsData, 15), (Flaw::SegmentsGoThrough, 1)];

/// A loopback cell: which loopback of its connection, which request of it, and whether it is the reply.
#[derive(Clone, Copy)]
pub(super) struct Oam {
    place: usize,
    number: usize,
    is_reply: bool,
}

/// A request: when it left, and when its reply came.
pub(super) struct Trip {
    left: Time,
    came: Option<Time>,
}

impl Cell {
    /// Whether it carries user data.
    pub(super) fn is_data(&self, flaw: Option<Flaw>) -> bool {
        self.rm.is_none() && (self.oam.is_none() || flaw == Some(Flaw::LoopbackIsData))
    }
}

impl Network<'_> {
    /// All requests.
    pub(super) fn plan_loopbacks(&mut self) {
        let scenario = self.scenario;
        for (number, connection) in scenario.connections.iter().enumerate() {
            for (place, loopback) in connection.loopbacks.iter().enumerate() {
                let mut at = loopback.start;
                while at < self.end {
                    self.plan(at, Happening::Loopback(2 * number + usize::from(loopback.backward), place));
                    at += loopback.every;
                }
            }
        }
    }

    /// The end of this number sends a request.
    pub(super) fn on_loopback(&mut self, now: Time, number: usize, place: usize) {
        let trips = self.trips.entry((number / 2, place)).or_default();
        trips.push(Trip { left: now, came: None });
        let oam = Oam { place, number: trips.len() - 1, is_reply: false };
        self.send_oam(now, number, 0, oam);
        self.ends[number].sent += 1;
    }

    /// A loopback cell comes to `port` of the direction `flow`, at this step of its path.
    fn send_oam(&mut self, now: Time, flow: usize, step: usize, oam: Oam) {
        let cell = Box::new(Cell {
            flow,
            step,
            sent: now,
            number: 0,
            efci: false,
            rm: None,
            values: None,
            ends_pdu: false,
            tagged: false,
            marked: false,
            pdu: None,
            oam: Some(oam),
        });
        if step == 0 {
            return self.admit(now, number_of(self.paths[flow][0]), cell);
        }
        let port = self.observe(now, &cell);
        self.admit(now, port, cell);
        self.plan_interval_end(port);
    }

    /// A loopback cell has come to the end of this number.
    pub(super) fn on_oam(&mut self, now: Time, number: usize, oam: Oam) {
        if oam.is_reply {
            let trips = self.trips.get_mut(&(number / 2, oam.place)).expect("it was asked for");
            let trip = &mut trips[oam.number];
            trip.came = Some(now);
            self.last_trips.insert(number, now.since(trip.left).as_secs_f64());
            return;
        }
        self.send_oam(now, number, 0, Oam { is_reply: true, ..oam });
        self.ends[number].sent += 1;
    }

    /// Whether the switch that `cell` has reached is to answer it.
    pub(super) fn answers_segment(&self, cell: &Cell) -> bool {
        let Some(oam) = cell.oam.filter(|oam| !oam.is_reply) else { return false };
        let loopback = self.scenario.connections[cell.flow / 2].loopbacks[oam.place];
        loopback.hop == Some(cell.step) && self.flaw != Some(Flaw::SegmentsGoThrough)
    }

    /// The switch that a loopback cell was to reach sends it back.
    pub(super) fn answer_segment(&mut self, now: Time, cell: &Cell) {
        let (flow, oam) = (cell.flow ^ 1, cell.oam.expect("a loopback cell"));
        let step = self.paths[flow].len() - (cell.step + 1);
        self.send_oam(now, flow, step, Oam { is_reply: true, ..oam });
    }

    pub(super) fn loopback_rows(&self) -> Vec<LoopbackSummary> {
        let (scenario, start) = (self.scenario, self.scenario.measuring.start());
        let mut rows = Vec::new();
        for flow in 0..self.paths.len() {
            for (place, loopback) in scenario.connections[flow / 2].loopbacks.iter().enumerate() {
                if loopback.backward != (flow % 2 == 1) {
                    continue;
                }
                let trips = self.trips.get(&(flow / 2, place)).map_or(&[][..], |trips| trips);
                let last = trips.iter().rposition(|trip| trip.came.is_some());
                let counted = |&(_, trip): &(usize, &Trip)| trip.left >= start;
                let all = || trips.iter().enumerate().filter(counted);
                let spans: Vec<Duration> =
                    all().filter_map(|(_, trip)| Some(trip.came?.since(trip.left))).collect();
                let lost = all().filter(|(number, trip)| trip.came.is_none() && Some(*number) < last).count();
                let sum: u128 = spans.iter().map(|span| u128::from(span.as_ps())).sum();
                let (sent, answered) = (all().count() as u64, spans.len() as u64);
                let step = loopback.hop.unwrap_or(self.paths[flow].len() - 1);
                let node = scenario.head(self.paths[flow][step]);
                rows.push(LoopbackSummary {
                    vc: self.name_of(flow),
                    at: scenario.nodes[node.0 as usize].name.clone(),
                    flow: if loopback.hop.is_some() { "segment" } else { "end-to-end" },
                    sent,
                    answered,
                    lost: lost as u64,
                    unanswered: sent - answered - lost as u64,
                    mean_s: (answered > 0).then(|| sum as f64 / answered as f64 / 1e12),
                    min_s: spans.iter().min().map(|span| span.as_secs_f64()),
                    max_s: spans.iter().max().map(|span| span.as_secs_f64()),
                });
            }
        }
        rows
    }
}
