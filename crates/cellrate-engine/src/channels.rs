//! Virtual channels of a virtual path: what each has to send, whose turn it is, and what of each has come at the other
//! end.
//!
//! The path's source says when a cell leaves. Whose it is, a fair queueing scheduler ([`WeightedFair`]) says by the
//! weights of the channels that have one then.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use cellrate_proto::scheduling::WeightedFair;
use cellrate_proto::units::BITS_PER_CELL;
use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::traffic::Generate;
use cellrate_scenario::{Channel, FlowIndex, Scenario, fair};
use serde::Serialize;

use crate::declared::Row;

use crate::names::flow_name;
use crate::random::{Owner, Random, Stream};
use crate::shares::ShareSummary;
use crate::traffic::Generator;

/// The channels of a virtual path at one of its ends: those that send there, and those that come there.
#[derive(Debug)]
pub struct Channels {
    sending: Vec<Sending>,
    /// Channels of which the scheduler knows that a cell waits.
    waiting: BTreeSet<u32>,
    /// All others, each behind the first instant at which a cell of it waits, as it was when it came here.
    empty: BinaryHeap<Reverse<(Time, u32)>>,
    scheduler: WeightedFair,
    /// The channel of the cell that left last.
    last: u32,
    /// By channel of the other direction.
    received: Vec<Received>,
}

#[derive(Debug)]
struct Sending {
    cells: Generator,
    sent: u64,
}

/// Data cells of a channel that have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Received {
    cells: u64,
    /// Sum of their delays \[ps\].
    delay_ps: u128,
    longest: Duration,
}

impl Channels {
    /// The channels at the end that sends `flow`, if its connection is a virtual path.
    pub fn new(scenario: &Scenario, flow: FlowIndex) -> Option<Channels> {
        let connection = scenario.connection(flow.connection());
        if !connection.is_path() {
            return None;
        }
        let mut scheduler = WeightedFair::new();
        let path = flow_name(scenario, flow);
        let sending = connection.channels(flow.is_backward()).iter().filter_map(|channel| {
            scheduler.connect(channel.weight);
            let owner = Owner::named(&format!("{path}/{}", channel.name));
            let random = || Random::new(scenario.seed, Stream::Traffic(owner));
            Some(Sending { cells: channel.traffic.generator(random)?, sent: 0 })
        });
        let sending: Vec<Sending> = sending.collect();
        let empty =
            (0..).zip(&sending).map(|(number, one)| Reverse((one.cells.available_from(Time::ZERO), number)));
        let (waiting, empty) = (BTreeSet::new(), empty.collect());
        let received = vec![Received::default(); connection.channels(!flow.is_backward()).len()];
        Some(Channels { sending, waiting, empty, scheduler, last: 0, received })
    }

    /// The first instant, not before `from`, at which a cell of any of them waits; [`Time::NEVER`] when none will.
    pub fn available_from(&self, from: Time) -> Time {
        // Mostly one that waits has a cell still, and one that is empty has none yet.
        if self.waiting.iter().any(|&channel| self.available(channel, from) == from) {
            return from;
        }
        match self.empty.peek() {
            Some(&Reverse((first, _))) if first > from && self.waiting.is_empty() => first,
            None if self.waiting.is_empty() => Time::NEVER,
            _ => self.sending.iter().map(|one| one.cells.available_from(from)).min().unwrap_or(Time::NEVER),
        }
    }

    fn available(&self, channel: u32, from: Time) -> Time {
        self.sending[channel as usize].cells.available_from(from)
    }

    /// A cell leaves at `now`, when one [waits](Channels::available_from): that of the channel whose turn it is.
    pub fn take(&mut self, now: Time) {
        while let Some(&Reverse((first, channel))) = self.empty.peek()
            && first <= now
        {
            self.empty.pop();
            let first = self.available(channel, now);
            if first <= now {
                self.waiting.insert(channel);
                self.scheduler.begin(channel);
            } else {
                self.empty.push(Reverse((first, channel)));
            }
        }
        let mut left = false;
        while !left && let Some(turn) = self.scheduler.next() {
            // A greedy channel has nothing more when its window ends.
            left = self.available(turn, now) <= now;
            if left {
                let one = &mut self.sending[turn as usize];
                one.cells.take(now);
                one.sent += 1;
                self.last = turn;
            }
            let next = self.available(turn, now);
            if next <= now {
                self.scheduler.requeue(turn);
            } else {
                self.waiting.remove(&turn);
                self.empty.push(Reverse((next, turn)));
            }
        }
    }

    /// The channel of the cell that left last, by its place in the path.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// Data cells that have come by `now` and wait \[cells\]; `None` where one of the channels always has more.
    pub fn waiting(&self, now: Time) -> Option<u64> {
        self.sending.iter().map(|one| one.cells.waiting(now)).sum()
    }

    /// A data cell of this channel of the other direction, which left at `sent`, has come at `now`.
    pub fn on_delivered(&mut self, now: Time, channel: u32, sent: Time) {
        if let Some(received) = self.received.get_mut(channel as usize) {
            let delay = now.since(sent);
            received.cells += 1;
            received.delay_ps += u128::from(delay.as_ps());
            received.longest = received.longest.max(delay);
        }
    }

    /// Counts begin anew.
    pub fn begin_statistics(&mut self) {
        self.sending.iter_mut().for_each(|one| one.sent = 0);
        self.received.fill(Received::default());
    }
}

/// A virtual channel within one direction of a virtual path.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "channel", many = "channels", named = "{channel} in {vc}")]
pub struct ChannelSummary {
    /// Name of the path; `name (back)` for the direction from its last host to its first.
    pub vc: String,
    /// Name of the channel.
    pub channel: String,
    /// Its weight.
    #[row(unit = plain, adds = sum, heading = "weight")]
    pub weight: f64,
    /// Data cells that left the path's source.
    #[row(unit = cells, adds = sum, heading = "sent")]
    pub sent: u64,
    /// Data cells that have come to the source and wait there at the end; null of traffic without a queue
    /// (greedy, limited).
    #[row(unit = cells, adds = sum, heading = "waiting")]
    pub waiting: Option<u64>,
    /// Data cells that came to the other end.
    #[row(unit = cells, adds = sum, heading = "delivered")]
    pub delivered: u64,
    /// These, 53 octets each, over the time.
    #[row(unit = bps, adds = sum, heading = "throughput", decimals = 3)]
    pub throughput_bps: f64,
    /// Its part of the path's `fair_share_bps` in `shares`, by weight; `null` where that is.
    #[row(unit = bps, adds = sum, heading = "fair share", decimals = 3)]
    pub fair_share_bps: Option<f64>,
    /// Throughput over that.
    #[row(unit = multiple, adds = least, heading = "of fair share")]
    pub of_fair_share: Option<f64>,
    /// Mean time of its cells from leaving the source to arrival; null, like the next, where none arrived.
    #[row(unit = s, adds = mean(delivered), heading = "mean delay")]
    pub mean_delay_s: Option<f64>,
    /// Largest of the same.
    #[row(unit = s, adds = largest, heading = "max delay")]
    pub max_delay_s: Option<f64>,
}

/// Rows of the channels of `flow`, which one end has sent and the other `received`, from the end of the warm-up to
/// `end`; `shares` are those of directions.
pub fn rows(
    scenario: &Scenario,
    flow: FlowIndex,
    [sent, received]: [&Channels; 2],
    shares: &[ShareSummary],
    end: Time,
) -> Vec<ChannelSummary> {
    let vc = flow_name(scenario, flow);
    let seconds = end.since(scenario.measuring.start()).as_secs_f64();
    let channels = scenario.connection(flow.connection()).channels(flow.is_backward());
    let bits = BITS_PER_CELL as f64;
    let due = shares.iter().find(|row| row.vc == vc).and_then(|row| row.fair_share_bps);
    let fair = due.map(|bps| fair::of_channels(channels, CellRate::new(bps / bits), None));
    let row = |(place, channel): (usize, &Channel)| {
        let (sending, came) = (&sent.sending[place], received.received[place]);
        let throughput_bps = came.cells as f64 * bits / seconds;
        let fair_share_bps = fair.as_ref().map(|rates| rates[place].as_cells_per_s() * bits);
        let arrived = came.cells > 0;
        ChannelSummary {
            vc: vc.clone(),
            channel: channel.name.clone(),
            weight: f64::from(channel.weight.thousandths()) / 1000.0,
            sent: sending.sent,
            waiting: sending.cells.waiting(end),
            delivered: came.cells,
            throughput_bps,
            fair_share_bps,
            of_fair_share: fair_share_bps.filter(|&share| share > 0.0).map(|share| throughput_bps / share),
            mean_delay_s: arrived.then(|| came.delay_ps as f64 / came.cells as f64 / 1e12),
            max_delay_s: arrived.then(|| came.longest.as_secs_f64()),
        }
    };
    channels.iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_scenario::Document;

    /// The channels, each `{ name = ..., ... }`, of a path, and how many cells of each are among `cells` that leave at
    /// 1,000 cells/s.
    fn sent(channels: &str, cells: u64) -> Vec<u64> {
        let text = format!(
            "name = \"t\"\nduration = \"1 s\"\nhost = [{{ name = \"h{{i}}\", count = 2 }}]\n\
             link = [{{ between = [\"h1\", \"h2\"], rate = \"155.52 Mbps\", length = \"1 km\" }}]\n\
             vc = [{{ name = \"p\", path = [\"h1\", \"h2\"], channels = [{channels}] }}]"
        );
        let scenario = Document::parse(&text, "t").and_then(|document| document.resolve()).unwrap();
        let mut channels = Channels::new(&scenario, scenario.flows().next().unwrap()).unwrap();
        let mut at = Time::ZERO;
        for _ in 0..cells {
            at = channels.available_from(at);
            channels.take(at);
            at += Duration::from_ms(1);
        }
        channels.sending.iter().map(|one| one.sent).collect()
    }

    #[test]
    fn greedy_channels_send_by_their_weights() {
        let channels = "{ name = \"a\", weight = 3 }, { name = \"b\" }, { name = \"c\", weight = 0.5 }";
        assert_eq!(sent(channels, 900), [600, 200, 100]);
    }

    #[test]
    fn the_others_share_what_one_does_not_use() {
        let channels = "{ name = \"a\", weight = 3, traffic = { type = \"constant\", rate = \"100 cells/s\" } },\
                        { name = \"b\" }, { name = \"c\", weight = 2 }";
        assert_eq!(sent(channels, 900), [90, 270, 540]);
    }

    #[test]
    fn a_channel_that_has_waited_for_long_gets_no_more_than_its_share() {
        let channels = "{ name = \"a\" }, { name = \"b\", traffic = { start = \"0.5 s\" } }";
        assert_eq!(sent(channels, 900), [700, 200]);
    }

    #[test]
    fn a_window_that_ends_leaves_the_turn_to_another() {
        let channels = "{ name = \"a\" }, { name = \"b\", traffic = { end = \"0.3 s\" } }";
        assert_eq!(sent(channels, 900), [750, 150]);
    }
}
