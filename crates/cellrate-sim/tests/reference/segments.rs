//! How the judge segments control loops (VS/VD): ends inside switches, and what waits between them.
//!
//! They stand behind the ends at hosts, in the order of the connections and along their paths, first the one that faces
//! the first host. So their transmissions come after those of hosts at the same instant.

use cellrate_proto::{CellRate, CouplingConfig};
use cellrate_scenario::{Connection, VsVd};

use super::*;

/// Parts that an end inside a switch has beside others.
pub(super) struct Relay {
    switch: NodeIndex,
    /// The step of its direction that it sends over first.
    step: usize,
    /// The end that the loop before it comes to.
    partner: usize,
    coupling: CouplingConfig,
    /// Data cells that wait for it.
    queue: VecDeque<Box<Cell>>,
    /// How many there were from when on.
    lengths: Vec<(Time, usize)>,
}

impl Relay {
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn available_from(&self, from: Time) -> Time {
        if self.queue.is_empty() { Time::NEVER } else { from }
    }

    fn note_length(&mut self, now: Time) {
        self.lengths.push((now, self.queue.len()));
    }

    /// Each length by the time for which it held.
    fn mean_length(&self, start: Time, end: Time) -> f64 {
        let mut sum = 0_u128;
        for (place, &(since, length)) in self.lengths.iter().enumerate() {
            let until = self.lengths.get(place + 1).map_or(end, |&(next, _)| next).min(end);
            sum += u128::from(until.since(since.max(start)).as_ps()) * length as u128;
        }
        sum as f64 / end.since(start).as_ps() as f64
    }

    /// The largest length from `start` on, that which stood then included.
    fn max_length(&self, start: Time) -> u64 {
        let before = self.lengths.iter().rfind(|&&(since, _)| since < start);
        let from_then_on = self.lengths.iter().filter(|&&(since, _)| since >= start);
        before.into_iter().chain(from_then_on).map(|&(_, length)| length as u64).max().unwrap_or(0)
    }
}

/// The ends inside switches.
pub(super) fn virtual_ends(scenario: &Scenario) -> Vec<End> {
    let first = 2 * scenario.connections.len();
    let mut ends: Vec<End> = Vec::new();
    for (index, connection) in scenario.connections.iter().enumerate() {
        for step in 1..connection.path.len() {
            let switch = scenario.tail(connection.path[step]);
            if !segments(scenario, connection, step) {
                continue;
            }
            let back = connection.path.len() - step;
            for (flow, step) in [(2 * index + 1, back), (2 * index, step)] {
                let partner = first + (ends.len() ^ 1);
                // The loop before begins at the switch behind this one, or the other end of the connection.
                let round_trip = round_trip_before(scenario, flow, step);
                let mode = mode_of(scenario, path_of(scenario, flow)[step]);
                let other = mode_of(scenario, path_of(scenario, flow ^ 1)[connection.path.len() - step]);
                let coupling = mode.or(other).expect("one of the two").coupling(round_trip);
                let (queue, lengths) = (VecDeque::new(), vec![(Time::ZERO, 0)]);
                let relay = Relay { switch, step, partner, coupling, queue, lengths };
                let host = new_end(scenario, flow);
                let supply = Supply::Common(CommonSupply::Nothing);
                ends.push(End { relay: Some(relay), supply, tcp: None, ..host });
            }
        }
    }
    ends
}

/// There and back over the links by which the cells of `flow` have come since the last loop began, before they go over
/// its step number `step`.
fn round_trip_before(scenario: &Scenario, flow: usize, step: usize) -> Duration {
    let (path, connection) = (path_of(scenario, flow), &scenario.connections[flow / 2]);
    let hops = path.len();
    let mut sum = Duration::ZERO;
    for (number, step) in path.into_iter().enumerate().take(step).rev() {
        let link = &scenario.links[step.link.0 as usize];
        let delays = link.changes.iter().flat_map(|step| step.lines).map(|line| line.delay);
        sum += delays.fold(link.delay, Duration::max) * 2;
        let forward = if flow % 2 == 1 { hops - number } else { number };
        if number > 0 && segments(scenario, connection, forward) {
            break;
        }
    }
    sum
}

fn path_of(scenario: &Scenario, flow: usize) -> Vec<Step> {
    let mut path = scenario.connections[flow / 2].path.clone();
    if flow % 2 == 1 {
        path.reverse();
        path.iter_mut().for_each(|step| step.end = 1 - step.end);
    }
    path
}

/// The mode of the port that a step begins at.
fn mode_of(scenario: &Scenario, step: Step) -> Option<VsVd> {
    scenario.links[step.link.0 as usize].ports[usize::from(step.end)].vs_vd
}

/// Whether the loops of `connection` are segmented at the switch that step number `step` of its path leaves: one of the
/// two ports by which it leaves there says so.
fn segments(scenario: &Scenario, connection: &Connection, step: usize) -> bool {
    let before = connection.path[step - 1];
    let back = Step { end: 1 - before.end, ..before };
    let says = |step| mode_of(scenario, step).is_some();
    connection.category == Category::Abr && (says(connection.path[step]) || says(back))
}

impl Network<'_> {
    /// The end at the switch that `cell` has reached, if its loop ends there.
    pub(super) fn virtual_end(&self, cell: &Cell) -> Option<usize> {
        let switch = self.scenario.head(self.paths[cell.flow][cell.step]);
        self.end_at(cell.flow ^ 1, switch)
    }

    fn end_at(&self, flow: usize, switch: NodeIndex) -> Option<usize> {
        let mut inside = self.ends[self.paths.len()..].iter();
        let is_it =
            |end: &End| end.flow == flow && end.relay.as_ref().is_some_and(|relay| relay.switch == switch);
        Some(self.paths.len() + inside.position(is_it)?)
    }

    pub(super) fn on_virtual_end(&mut self, now: Time, number: usize, mut cell: Box<Cell>) {
        let own = self.ends[number].relay.as_ref().expect("it is inside a switch");
        let (step, partner) = (own.step, own.partner);
        let flow = self.ends[number].flow;
        // What comes is counted at the port by which it would go on.
        let passing = Cell { step: cell.step + 1, ..Cell::clone(&cell) };
        let Some(rm) = cell.rm else {
            let port = self.observe(now, &passing);
            let values = cell.values_as_frm();
            cell.values = None;
            let has_room = self.relay(now, number, partner, cell);
            if let (Some(frm), true) = (values, has_room) {
                self.on_interval_end(now, port);
                let brm = self.answer_at_end(now, number, port, frm);
                let end = &mut self.ends[number];
                let at_once =
                    end.source.as_mut().and_then(|source| end.destination.on_forward_rm(&brm, source));
                self.take_turn(now, number, at_once);
            }
            return self.plan_interval_end(port);
        };
        let port = match rm.direction {
            // The port that the loop begins at is the first to say something.
            Direction::Backward => {
                let own = number_of(self.paths[flow][step]);
                cell.rm = Some(self.answer(now, own, flow, rm));
                self.observe(now, &passing)
            }
            // The port behind answers the loop before, too; if this was the last cell of an averaging interval, after
            // that.
            Direction::Forward => {
                let port = self.observe(now, &passing);
                self.on_interval_end(now, port);
                cell.rm = Some(self.answer_at_end(now, number, port, rm));
                port
            }
        };
        self.deliver(now, number, cell);
        self.plan_interval_end(port);
    }

    /// An FRM ends its loop at the end of this number, and `port` has answered it; the loop behind has its word too.
    fn answer_at_end(&mut self, now: Time, number: usize, port: usize, frm: RmCell) -> RmCell {
        let own = self.ends[number].relay.as_ref().expect("it is inside a switch");
        let next = &self.ends[own.partner];
        let acr = next.source.as_ref().map_or(CellRate::ZERO, Source::acr);
        let relay = next.relay.as_ref().expect("it is inside a switch");
        let (waiting, coupling) = (Cells(relay.waiting() as u64), relay.coupling);
        let answered = self.answer(now, port, self.ends[number].flow ^ 1, frm);
        coupling.tell(&mut self.ends[number].destination, waiting, acr);
        answered
    }

    /// A data cell waits for the loop behind, if there is room: whether there was.
    fn relay(&mut self, now: Time, number: usize, partner: usize, mut cell: Box<Cell>) -> bool {
        let next = self.ends[partner].relay.as_mut().expect("it is inside a switch");
        if next.coupling.buffer.is_some_and(|room| next.queue.len() as u64 >= room.0) {
            let port = number_of(self.paths[cell.flow][cell.step + 1]);
            self.lose(port, &cell);
            return false;
        }
        self.deliver(now, number, Box::new(Cell { pdu: None, ..Cell::clone(&cell) }));
        let next = self.ends[partner].relay.as_mut().expect("it is inside a switch");
        cell.efci = false;
        next.queue.push_back(cell);
        next.note_length(now);
        self.plan_transmission(now, partner);
        true
    }

    /// A cell leaves an end inside a switch: the data cell that waited, with these values, or an RM cell.
    pub(super) fn send_on(&mut self, now: Time, number: usize, rm: Option<RmCell>, values: Option<RmCell>) {
        let flow = self.ends[number].flow;
        let relay = self.ends[number].relay.as_mut().expect("it is inside a switch");
        let step = relay.step;
        let cell = match rm {
            None => {
                let mut waited = relay.queue.pop_front().expect("one waits");
                relay.note_length(now);
                waited.step = step;
                waited.values = values;
                waited
            }
            rm => Box::new(Cell {
                flow,
                step,
                sent: now,
                number: 0,
                efci: false,
                marked: false,
                rm,
                values: None,
                ends_pdu: false,
                tagged: false,
                pdu: None,
                oam: None,
            }),
        };
        let port = number_of(self.paths[flow][step]);
        self.admit(now, port, cell);
    }

    /// The quantity, and the end that has it.
    pub(super) fn sender_of(&self, quantity: Quantity) -> (FlowQuantity, usize) {
        match quantity {
            Quantity::Flow { quantity, flow } => (quantity, flow.index()),
            Quantity::VirtualSource { quantity, flow, switch } => {
                let flow = flow.index();
                (quantity, self.end_at(flow, switch).expect("there is one"))
            }
            Quantity::Port { .. } | Quantity::Demand { .. } => panic!("that is no quantity of an end"),
        }
    }

    /// Data cells of a direction that wait inside switches.
    pub(super) fn waiting_inside(&self, flow: usize) -> u64 {
        let inside = self.ends.iter().filter(|end| end.flow == flow);
        inside.filter_map(|end| end.relay.as_ref()).map(|relay| relay.waiting() as u64).sum()
    }

    /// The counts so far, of those that no data came to as well; means and maxima are those from `start` to `end`.
    pub(super) fn virtual_source_rows(&self, start: Time, end: Time) -> Vec<VirtualSourceSummary> {
        let mut rows = Vec::new();
        for flow in 0..self.paths.len() {
            // In the order in which cells of the direction meet them.
            for step in 0..self.paths[flow].len() {
                let found = self.ends.iter().find(|end| {
                    end.flow == flow && end.relay.as_ref().is_some_and(|relay| relay.step == step)
                });
                rows.extend(found.and_then(|found| self.virtual_source_row(found, start, end)));
            }
        }
        rows
    }

    fn virtual_source_row(&self, own: &End, start: Time, end: Time) -> Option<VirtualSourceSummary> {
        let (relay, source) = (own.relay.as_ref()?, own.source.as_ref()?);
        let data_received = self.ends[relay.partner].data_received;
        let statistics = source.statistics();
        Some(VirtualSourceSummary {
            vc: self.name_of(own.flow),
            switch: self.scenario.nodes[relay.switch.0 as usize].name.clone(),
            data_received,
            data_sent: own.data_sent,
            forward_rm_sent: own.forward_rm_sent,
            backward_rm_received: own.backward_rm_received,
            max_queue: relay.max_length(start),
            mean_queue: relay.mean_length(start, end),
            mean_acr: own.mean_acr(start, end),
            final_acr: source.acr().as_cells_per_s(),
            idle_resets: statistics.idle_resets,
            cutoff_decreases: statistics.cutoff_decreases,
            uili_decreases: statistics.uili_decreases,
        })
    }
}
