//! Rows of results on what a scenario asks of its lines beyond what they carry: guarantees that are promised more than
//! once, or that others may take, and sources that begin together faster than a line.

use std::collections::HashMap;

use cellrate_proto::switch::AveragingInterval;
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Category, PortIndex, Scenario, Sender, SharedBy};
use serde::Serialize;

use crate::declared::Row;
use crate::names::port_name;
use crate::rows::PortSummary;

/// A port whose line is promised to its connections more than once. Only where there is no admission control.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "overbooked port", many = "overbooked ports", named = "{port}")]
pub struct OverbookedSummary {
    /// "sw1->sw2": the port of sw1 towards sw2.
    pub port: String,
    /// Connections with a promise there.
    #[row(unit = plain, adds = sum)]
    pub connections: u64,
    /// Sum of MCRs of ABR, GFR and UBR, SCRs of VBR and PCRs of CBR.
    #[row(unit = cells_per_s, adds = largest)]
    pub promised: f64,
    /// Rate of the line, where it changes the least.
    #[row(unit = cells_per_s, adds = largest)]
    pub line: f64,
}

/// The ports whose lines are promised more than once.
pub fn overbooked(scenario: &Scenario) -> Vec<OverbookedSummary> {
    let row = |found: &cellrate_scenario::Overbooked| OverbookedSummary {
        port: port_name(scenario, found.port),
        connections: found.connections as u64,
        promised: found.promised.as_cells_per_s(),
        line: scenario.link(found.port.link()).slowest_rate().to_cell_rate().as_cells_per_s(),
    };
    scenario.overbooked.iter().map(row).collect()
}

/// A port at which others may take the place of what is promised, although the line has room for it: they may bring
/// more than they are promised, and share a queue or a buffer that goes by no promise.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "unkept promise", many = "unkept promises", named = "{port}")]
pub struct UnkeptSummary {
    /// "sw1->sw2": the port of sw1 towards sw2.
    pub port: String,
    /// "queue": turns; "buffer": room for cells that wait.
    pub by: &'static str,
    /// Directions of connections whose promises are not kept.
    #[row(unit = plain, adds = sum)]
    pub connections: u64,
    /// The one of which the least part is kept.
    pub vc: String,
    /// Rate that it is promised: MCR of ABR, GFR and UBR, SCR of VBR, PCR of CBR.
    #[row(unit = cells_per_s, adds = largest)]
    pub promised: f64,
    /// Rate that is left for it in the long run; null where a buffer may leave nothing.
    #[row(unit = cells_per_s, adds = least)]
    pub left: Option<f64>,
    /// The connection that may bring most beyond what it is promised.
    pub other: String,
    /// The setting that would keep the promises.
    pub remedy: &'static str,
}

/// The ports that do not keep promises.
pub fn unkept(scenario: &Scenario) -> Vec<UnkeptSummary> {
    let row = |found: &cellrate_scenario::Unkept| UnkeptSummary {
        port: port_name(scenario, found.port),
        by: found.shared.word(),
        connections: found.connections as u64,
        vc: found.vc.clone(),
        promised: found.promised,
        left: found.left,
        other: found.other.clone(),
        remedy: match (found.shared, found.category) {
            (SharedBy::Buffer, _) => {
                "queueing.room, a buffer for each category, or a frame_discard that counts each"
            }
            (SharedBy::Queue, Category::Abr) => "an algorithm or EFCI at the port",
            (SharedBy::Queue, Category::Gfr | Category::Ubr) => "queueing of type \"weighted-fair\", by MCR",
            (SharedBy::Queue, Category::Cbr | Category::Vbr) => {
                "police or shaping, which hold it to its contract"
            }
        },
    };
    scenario.unkept.iter().map(row).collect()
}

/// A port whose longest queue is that of the start: its ABR sources begin together faster than its line, before any
/// feedback can have come.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "crowded start", many = "crowded starts", named = "{port}")]
pub struct StartSummary {
    /// "sw1->sw2": the port of sw1 towards sw2.
    pub port: String,
    /// ABR connections with data at the beginning of the run.
    #[row(unit = plain, adds = sum)]
    pub connections: u64,
    /// Sum of the rates that they begin with, min(ICR, TBE/FRTT) each (TM 4.0, source behaviour 2).
    #[row(unit = cells_per_s, adds = largest)]
    pub icr: f64,
    /// Rate of the line.
    #[row(unit = cells_per_s, adds = largest)]
    pub line: f64,
    /// Length of the longest ABR queue.
    #[row(unit = cells, adds = largest)]
    pub queue: u64,
}

/// The shortest queue of a start that is told \[cells\].
const LEAST: f64 = 1000.0;

/// Averaging intervals within which an algorithm that measures has brought rates down.
const INTERVALS: f64 = 4.0;

/// The ports in `rows` whose longest queue is that of the start: from half of what the sources can send beyond the line
/// before any feedback comes, to twice of what they can before rates have come down. `interval` gives the averaging
/// intervals of a port, if it has any.
pub fn starts<'a>(
    scenario: &Scenario,
    rows: impl Iterator<Item = &'a PortSummary>,
    interval: impl Fn(PortIndex) -> Option<AveragingInterval>,
) -> Vec<StartSummary> {
    let mut beginning: Vec<Vec<(f64, f64)>> = vec![Vec::new(); scenario.ports().len()];
    for flow in scenario.flows() {
        let direction = scenario.flow(flow);
        let sends = direction.traffic.as_ref().is_some_and(|traffic| traffic.kind().sends_at(Time::ZERO));
        let is_branch = scenario.connection(flow.connection()).branch.is_some();
        let Sender::Abr(sender) = &direction.sender else { continue };
        // Flows and calls begin as they arrive.
        if !sends || is_branch || scenario.is_slot(flow.connection()) {
            continue;
        }
        let (icr, frtt) =
            (sender.parameters.effective_icr().as_cells_per_s(), sender.parameters.frtt.as_secs_f64());
        for step in scenario.all_steps(flow.connection()) {
            let step = if flow.is_backward() { step.turned() } else { step };
            beginning[step.port().index()].push((frtt, icr));
        }
    }
    let longest: HashMap<&str, u64> = rows.map(|row| (row.port.as_str(), row.max_abr_queue)).collect();
    let told = |port: PortIndex| {
        let sources = &beginning[port.index()];
        let line = scenario.link(port.link()).rate.to_cell_rate().as_cells_per_s();
        let measured = measured(interval(port), sources);
        // An answer that an interval gives has about half of the round trip before it.
        let [least, most] = [0.0, INTERVALS].map(|intervals| {
            let until = |&(frtt, icr): &(f64, f64)| (frtt.max(frtt / 2.0 + intervals * measured), icr);
            ahead(&mut sources.iter().map(until).collect::<Vec<_>>(), line)
        });
        let range = (least / 2.0).max(LEAST)..=most * 2.0;
        let name = port_name(scenario, port);
        let queue = *longest.get(name.as_str())?;
        range.contains(&(queue as f64)).then(|| StartSummary {
            port: name,
            connections: sources.len() as u64,
            icr: sources.iter().map(|(_, icr)| icr).sum(),
            line,
            queue,
        })
    };
    scenario.ports().filter_map(told).collect()
}

/// How long the first averaging interval of a port is to which these sources send \[s\]: one without an end measures
/// nothing.
fn measured(interval: Option<AveragingInterval>, sources: &[(f64, f64)]) -> f64 {
    let rate: f64 = sources.iter().map(|(_, icr)| icr).sum();
    let length = interval.map(|interval| interval.length(Duration::from_secs_f64(1.0 / rate.max(1.0))));
    length.filter(|&length| length < Duration::FOREVER).map_or(0.0, Duration::as_secs_f64)
}

/// The most cells that sources of these round trips \[s\] and rates [cells/s], each until its first feedback, are ahead
/// of a line.
fn ahead(sources: &mut [(f64, f64)], line: f64) -> f64 {
    sources.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut rate: f64 = sources.iter().map(|(_, icr)| icr).sum();
    let (mut queue, mut now) = (0.0, 0.0);
    for &(frtt, icr) in sources.iter() {
        if rate <= line {
            break;
        }
        queue += (rate - line) * (frtt - now);
        (now, rate) = (frtt, rate - icr);
    }
    queue
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_scenario::Document;

    /// A scenario of two sources of `icr` at one line of a million cells/s, 100 ms there and back.
    fn two_sources(icr: &str) -> Scenario {
        let text = format!(
            "name = \"t\"\nduration = \"1 s\"\ndefaults.abr.icr = \"{icr}\"\ndefaults.abr.tbe = \"16777215 cells\"\n\
             defaults.link = {{ rate = \"1000000 cells/s\", delay = \"25 ms\" }}\n\
             host = [{{ name = \"a\" }}, {{ name = \"b\" }}, {{ name = \"d\" }}]\nswitch = [{{ name = \"s\" }}]\n\
             link = [{{ between = [\"a\", \"s\"] }}, {{ between = [\"b\", \"s\"] }}, {{ between = [\"s\", \"d\"] }}]\n\
             vc = [{{ name = \"v\", path = [\"a\", \"s\", \"d\"] }}, {{ name = \"w\", path = [\"b\", \"s\", \"d\"] }}]\n"
        );
        Document::parse(&text, "t").and_then(|document| document.resolve()).unwrap()
    }

    /// Whether the queue of the start is told where the longest one was this.
    fn is_told(scenario: &Scenario, longest: u64, interval: Option<AveragingInterval>) -> bool {
        let row = PortSummary {
            port: "s->d".into(),
            transmitted: 0,
            utilization: 1.0,
            max_queue: longest,
            mean_queue: 0.0,
            max_abr_queue: longest,
            dropped: 0,
            tagged_dropped: 0,
            backward_rm_originated: 0,
            pdus_refused: 0,
            pdus_cut: 0,
        };
        !starts(scenario, [row].iter(), |_| interval).is_empty()
    }

    #[test]
    fn a_start_is_told_from_half_of_a_round_trip_to_twice_of_four_intervals() {
        // 100,000 cells beyond the line in a round trip, 250,000 in half of one and four intervals of 50 ms.
        let scenario = two_sources("1000000 cells/s");
        let told = |longest, interval| is_told(&scenario, longest, interval);
        let interval = Some(AveragingInterval::of_time(Duration::from_ms(50)));
        assert_eq!(
            [49_999, 50_001, 199_999, 200_001].map(|longest| told(longest, None)),
            [false, true, true, false]
        );
        assert_eq!([49_999, 499_999, 500_001].map(|longest| told(longest, interval)), [false, true, false]);
        // 1,000 cells in a round trip.
        let scenario = two_sources("505000 cells/s");
        assert_eq!([999, 1000].map(|longest| is_told(&scenario, longest, None)), [false, true]);
    }

    #[test]
    fn an_interval_ends_by_time_or_by_what_the_sources_send() {
        // 2,000 cells/s together.
        let sources = [(0.1, 500.0), (0.1, 1500.0)];
        let of = |time, cells| Some(AveragingInterval { time, cells });
        assert_eq!(measured(None, &sources), 0.0);
        assert_eq!(measured(of(Duration::FOREVER, None), &sources), 0.0);
        assert_eq!(measured(of(Duration::from_ms(5), None), &sources), 0.005);
        assert_eq!(measured(of(Duration::from_ms(5), Some(4)), &sources), 0.002);
        assert_eq!(measured(of(Duration::FOREVER, Some(100)), &sources), 0.05);
    }

    #[test]
    fn sources_are_ahead_of_a_line_until_their_feedback_comes() {
        // 30 against 10 cells/s for 2 s, then 20 for 3 s, then as much as the line.
        let mut sources = [(5.0, 10.0), (2.0, 10.0), (9.0, 10.0)];
        assert_eq!(ahead(&mut sources, 10.0), 2.0 * 20.0 + 3.0 * 10.0);
        assert_eq!(ahead(&mut sources, 30.0), 0.0);
        assert_eq!(ahead(&mut [], 10.0), 0.0);
    }
}
