//! How the judge knows whose the cells of virtual paths are: WF2Q+ as it is defined, over channels whose cells it draws
//! itself, and each cell with the instants at which it left and came.

use cellrate_engine::traffic::Generator;
use cellrate_scenario::Channel;
use cellrate_scenario::traffic::Generate;
use cellrate_sim::ChannelSummary;

use super::queues::Fair;
use super::*;

/// Flaws that take virtual paths to tell.
pub const CHANNEL_FLAWS: [(Flaw, u64); 2] = [(Flaw::ChannelsByTurns, 5), (Flaw::ChannelsOfOneWeight, 7)];

/// Whether the rows are the same but for fair shares, of which the judge knows nothing.
pub fn same_channels(kernel: &[ChannelSummary], judge: &[ChannelSummary]) -> bool {
    let without =
        |row: &ChannelSummary| ChannelSummary { fair_share_bps: None, of_fair_share: None, ..row.clone() };
    kernel.iter().map(without).collect::<Vec<_>>() == judge
}

/// The channels of a direction.
#[derive(Default)]
pub(super) struct Multiplexer {
    fair: Fair,
    waits: Vec<bool>,
    cells: Vec<Generator>,
    left: Vec<Vec<Time>>,
    came: Vec<Vec<(Time, Duration)>>,
}

impl Multiplexer {
    fn new(scenario: &Scenario, flow: FlowIndex, flaw: Option<Flaw>) -> Multiplexer {
        let connection = scenario.connection(flow.connection());
        let mut all = Multiplexer::default();
        for (number, channel) in connection.channels(flow.is_backward()).iter().enumerate() {
            let back = if flow.is_backward() { " (back)" } else { "" };
            let owner = Owner::named(&format!("{}{back}/{}", connection.name, channel.name));
            let random = || Random::new(scenario.seed, Stream::Traffic(owner));
            all.cells.push(channel.traffic.generator(random).expect("it is open-loop"));
            let weight =
                if flaw == Some(Flaw::ChannelsOfOneWeight) { 1000 } else { channel.weight.thousandths() };
            all.fair.weights.insert(number, weight.into());
            all.waits.push(false);
            all.left.push(Vec::new());
            all.came.push(Vec::new());
        }
        all
    }

    /// The channel of the cell that leaves at `now`.
    fn turn(&mut self, now: Time) -> usize {
        let waits = |cells: &Generator| cells.available_from(now) <= now;
        for (number, cells) in self.cells.iter().enumerate() {
            if !self.waits[number] && waits(cells) {
                self.fair.begin(number);
                self.waits[number] = true;
            }
        }
        loop {
            let number = self.fair.take();
            self.waits[number] = false;
            if waits(&self.cells[number]) {
                self.cells[number].take(now);
                if waits(&self.cells[number]) {
                    self.fair.requeue(number);
                    self.waits[number] = true;
                }
                return number;
            }
        }
    }
}

impl Network<'_> {
    pub(super) fn multiplexers(scenario: &Scenario, flaw: Option<Flaw>) -> Vec<Multiplexer> {
        scenario.flows().map(|flow| Multiplexer::new(scenario, flow, flaw)).collect()
    }

    /// The number of the data cell that leaves the end of this number: on a path that of its channel.
    pub(super) fn number_of_cell(&mut self, now: Time, flow: usize) -> u32 {
        let sent = self.ends[flow].data_sent as u32;
        if self.ends[flow].relay.is_some() || self.multiplexers[flow].cells.is_empty() {
            return sent;
        }
        let multiplexer = &mut self.multiplexers[flow];
        let channel = match self.flaw {
            Some(Flaw::ChannelsByTurns) => sent as usize % multiplexer.cells.len(),
            _ => multiplexer.turn(now),
        };
        multiplexer.left[channel].push(now);
        channel as u32
    }

    /// A data cell has come to the end of this number at a host.
    pub(super) fn count_channel(&mut self, now: Time, number: usize, cell: &Cell) {
        // Virtual ends come behind those at hosts.
        let sent_by = self.multiplexers.get_mut(number ^ 1);
        if let Some(came) = sent_by.and_then(|sent_by| sent_by.came.get_mut(cell.number as usize)) {
            came.push((now, now.since(cell.sent)));
        }
    }

    pub(super) fn channel_rows(&self) -> Vec<ChannelSummary> {
        let start = self.scenario.measuring.start();
        let seconds = self.end.since(start).as_secs_f64();
        let mut rows = Vec::new();
        for (flow, multiplexer) in self.multiplexers.iter().enumerate() {
            let channels = self.scenario.connections[flow / 2].channels(flow % 2 == 1);
            for (place, Channel { name, weight, .. }) in channels.iter().enumerate() {
                let came = multiplexer.came[place].iter().filter(|&&(at, _)| at >= start);
                let delays: Vec<Duration> = came.map(|&(_, delay)| delay).collect();
                let sum: u128 = delays.iter().map(|delay| u128::from(delay.as_ps())).sum();
                rows.push(ChannelSummary {
                    vc: self.name_of(flow),
                    channel: name.clone(),
                    weight: f64::from(weight.thousandths()) / 1000.0,
                    sent: multiplexer.left[place].iter().filter(|&&at| at >= start).count() as u64,
                    waiting: multiplexer.cells[place].waiting(self.end),
                    delivered: delays.len() as u64,
                    throughput_bps: delays.len() as f64 * 424.0 / seconds,
                    fair_share_bps: None,
                    of_fair_share: None,
                    mean_delay_s: (!delays.is_empty()).then(|| sum as f64 / delays.len() as f64 / 1e12),
                    max_delay_s: delays.iter().max().map(|delay| delay.as_secs_f64()),
                });
            }
        }
        rows
    }
}
