//! Rows of results that both worlds have.

use cellrate_proto::parameters::MAX_RATE;
use cellrate_scenario::phases::{self, AskedInVain};
use cellrate_scenario::stability::{self, CannotSettle};
use cellrate_scenario::{Clock, ClockOwner, Negotiated, Refused, Scenario, Sender};
use serde::Serialize;

use crate::declared::Row;

use crate::histogram::Histogram;
use crate::names::{control_names, flow_name, port_name};

/// One direction of a connection.
///
/// `sent = delivered + dropped + in_flight`, but where switches segment the control loop (`vs_vd`): then source and
/// destination have RM cells of different loops, and that holds for data cells; so it does where switches originate
/// BRMs (`becn`), which no source sent, and where those of a tree (`branches`) end at a branch point or begin there.
///
/// `Count` and `Rate` are what only one end knows: in a live run the other one may be in another process, and then they
/// are null.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "VC", many = "VCs", named = "{vc}", tells(data_sent > 0))]
pub struct FlowSummary<Count = u64, Rate = f64> {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// `cbr`, `vbr`, `abr` or `ubr`.
    pub category: &'static str,
    /// All cells that left the source.
    #[row(unit = cells, adds = sum)]
    pub sent: Count,
    /// Data cells that left the source.
    #[row(unit = cells, adds = sum, heading = "data sent")]
    pub data_sent: Count,
    /// All cells that reached the destination.
    #[row(unit = cells, adds = sum)]
    pub delivered: Count,
    /// Data cells that reached the destination.
    #[row(unit = cells, adds = sum, heading = "delivered")]
    pub data_delivered: Count,
    /// Cells lost, anywhere.
    #[row(unit = cells, adds = sum, heading = "dropped")]
    pub dropped: u64,
    /// Cells on their way when the run ended, in queues of virtual sources too.
    #[row(unit = cells, adds = sum)]
    pub in_flight: u64,
    /// FRMs of this direction; values that data cells carry (rm = "in-band") are none.
    #[row(unit = cells, adds = sum)]
    pub forward_rm_sent: Count,
    /// BRMs that came back to the source of this direction.
    #[row(unit = cells, adds = sum)]
    pub backward_rm_received: Count,
    /// Data cells delivered, 53 octets each, over the time that is measured.
    #[row(unit = bps, adds = sum, heading = "throughput")]
    pub throughput_bps: Rate,
    /// Time-weighted mean of ACR; null for other categories.
    #[row(unit = cells_per_s, adds = sum, heading = "mean ACR")]
    pub mean_acr: Option<f64>,
    /// ACR at the end; null for other categories.
    #[row(unit = cells_per_s, adds = sum)]
    pub final_acr: Option<f64>,
    /// How often source rule 5 set ACR to ICR.
    #[row(unit = plain, adds = sum)]
    pub idle_resets: Option<u64>,
    /// How often source rule 6 lowered ACR.
    #[row(unit = plain, adds = sum)]
    pub cutoff_decreases: Option<u64>,
    /// How often a use-it-or-lose-it policy lowered ACR.
    #[row(unit = plain, adds = sum)]
    pub uili_decreases: Option<u64>,
    /// Mean time of data cells from leaving the source to arrival; null where none arrived, or nobody knows
    /// when they left.
    #[row(unit = s, adds = mean(data_delivered))]
    pub mean_delay_s: Option<f64>,
    /// Median of the same, within 1 %.
    #[row(unit = s, adds = none)]
    pub p50_delay_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    #[row(unit = s, adds = largest, heading = "p99 delay")]
    pub p99_delay_s: Option<f64>,
    /// Largest of the same.
    #[row(unit = s, adds = largest)]
    pub max_delay_s: Option<f64>,
    /// Counts of the same by their size, whose [distribution](Histogram::distribution) is a table of its own
    /// beside the rows; `None` in rows of windows, and where none arrived.
    #[serde(skip)]
    pub delays: Option<Box<Histogram>>,
}

/// An output port.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "port", many = "ports", named = "{port}", tells(max_queue > 1, dropped > 0))]
pub struct PortSummary {
    /// "sw1->sw2": the port of sw1 towards sw2.
    pub port: String,
    /// Cells transmitted.
    #[row(unit = cells, adds = sum)]
    pub transmitted: u64,
    /// Share of the time that is measured in which the line was busy.
    #[row(unit = share, adds = largest, heading = "utilization")]
    pub utilization: f64,
    /// Most cells waiting and in transmission, all categories.
    #[row(unit = cells, adds = largest, heading = "max queue")]
    pub max_queue: u64,
    /// Time-weighted mean of the same.
    #[row(unit = cells, adds = largest, heading = "mean queue")]
    pub mean_queue: f64,
    /// Most ABR cells waiting and in transmission.
    #[row(unit = cells, adds = largest)]
    pub max_abr_queue: u64,
    /// Lost for want of room, or on the line.
    #[row(unit = cells, adds = sum, heading = "dropped")]
    pub dropped: u64,
    /// Cells among them that had CLP = 1 and found no room of their own (`buffers.tagged`).
    #[row(unit = cells, adds = sum, heading_if_any = "tagged dropped")]
    pub tagged_dropped: u64,
    /// BRMs that the port originated (`becn`).
    #[row(unit = cells, adds = sum, heading_if_any = "BRMs originated")]
    pub backward_rm_originated: u64,
    /// PDUs of which it let no cell in (`frame_discard`).
    #[row(unit = pdus, adds = sum, heading_if_any = "refused")]
    pub pdus_refused: u64,
    /// PDUs of which a cell found no room there after others had got in (`frame_discard`).
    #[row(unit = pdus, adds = sum, heading_if_any = "cut")]
    pub pdus_cut: u64,
}

/// A connection that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[row(one = "refused VC", many = "refused VCs", named = "{vc}")]
pub struct RefusedSummary {
    /// Name of the connection.
    pub vc: String,
    /// "cbr", "vbr", "abr" or "ubr".
    pub category: &'static str,
    /// Where and why, as a phrase.
    pub reason: String,
}

/// One parameter that a node changed at set-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[row(one = "negotiated parameter", many = "negotiated parameters", named = "{vc} {parameter}")]
pub struct NegotiatedSummary {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// The node that changed it.
    pub node: String,
    /// The parameter, in the standard's symbol, lower case.
    pub parameter: &'static str,
    /// Value before, with its unit.
    pub from: String,
    /// Value after, with its unit.
    pub to: String,
    /// Reason of the change, as a phrase.
    pub why: String,
}

/// A direction of an ABR connection with a peak rate that signalling cannot carry: with it a network leaves the
/// standard.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "VC", many = "VCs", named = "{vc}")]
pub struct BeyondSignallingSummary {
    /// Its name; "name (back)" for the way back.
    pub vc: String,
    /// Its peak rate.
    #[row(unit = cells_per_s, adds = largest)]
    pub pcr: f64,
    /// The most that signalling carries, 16,777,215.
    #[row(unit = cells_per_s, adds = largest)]
    pub most: f64,
}

/// The directions with data whose PCR is more than signalling carries (UNI Signalling 4.0: 24 bits).
pub fn beyond_signalling(scenario: &Scenario) -> Vec<BeyondSignallingSummary> {
    let rows = scenario.flows().filter_map(|flow| {
        let direction = scenario.flow(flow);
        let Sender::Abr(sender) = &direction.sender else { return None };
        let pcr = sender.parameters.pcr.as_cells_per_s();
        let beyond = direction.traffic.is_some() && pcr > MAX_RATE;
        beyond.then(|| BeyondSignallingSummary { vc: flow_name(scenario, flow), pcr, most: MAX_RATE })
    });
    rows.collect()
}

/// A clock that is not exact, as it was given or drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "clock", many = "clocks", named = "{clock}")]
pub struct ClockSummary {
    /// A host by its name, a link by those of its ends with `-` between them.
    pub clock: String,
    /// By how much it is fast; negative for one that is slow.
    #[row(unit = ppm, adds = none)]
    pub offset_ppm: f64,
    /// How much later than written everything is that the host has to send; null for a link.
    #[row(unit = s, adds = largest)]
    pub phase_s: Option<f64>,
}

/// The clocks that are not exact.
pub fn clocks(scenario: &Scenario) -> Vec<ClockSummary> {
    let name = |node| scenario.node(node).name.as_str();
    let row = |clock: &Clock| {
        let (name, is_host) = match clock.owner {
            ClockOwner::Host(node) => (name(node).to_string(), true),
            ClockOwner::Link(link) => {
                let link = scenario.link(link);
                let ends = link.ends.map(name).join("-");
                (link.label.as_ref().map_or(ends.clone(), |label| format!("{ends} ({label})")), false)
            }
        };
        let phase_s = is_host.then(|| clock.phase.as_secs_f64());
        ClockSummary { clock: name, offset_ppm: clock.offset.as_ppm(), phase_s }
    };
    scenario.clocks.iter().map(row).collect()
}

/// A port whose algorithm cannot settle, or has not.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "port", many = "ports", named = "{port}")]
pub struct UnsettledSummary {
    /// "sw1->sw2": the bottleneck.
    pub port: String,
    /// Name of the port's algorithm.
    pub algorithm: String,
    /// "rule": known before the run, by the algorithm's own rule; "phase": known before the run, since bursts may meet
    /// all that sources at ACR 0 ask; "run": shown by its last quarter.
    pub by: &'static str,
    /// Connections that have their bottleneck there; by phase, those that leave there without an MCR.
    #[row(unit = plain, adds = sum)]
    pub connections: u64,
    /// Gain of the loop times its delay, which settles below pi / 2; null otherwise.
    #[row(unit = plain, adds = largest)]
    pub gain_delay: Option<f64>,
    /// That delay: from the port to the sources and back, and of averaging; by phase, from one burst to the next; null
    /// by the run.
    #[row(unit = s, adds = largest)]
    pub delay_s: Option<f64>,
    /// A change that would help; by the run only where marks beside the algorithm take rates down too far, else null.
    pub remedy: Option<String>,
    /// Largest difference of an ACR's highest and lowest value, as a part of its mean; null by rule.
    #[row(unit = multiple, adds = largest)]
    pub swing: Option<f64>,
    /// Mean ACR over the last quarter as a multiple of the fair share, of the connection that is farthest
    /// from it; null by rule.
    #[row(unit = multiple, adds = none)]
    pub share: Option<f64>,
    /// That connection; null by rule.
    pub vc: Option<String>,
}

/// The ports of which is known before a run that they cannot settle.
pub fn cannot_settle(scenario: &Scenario) -> Vec<UnsettledSummary> {
    let row = |found: CannotSettle| UnsettledSummary {
        port: port_name(scenario, found.port),
        algorithm: found.algorithm.to_string(),
        by: "rule",
        connections: found.connections as u64,
        gain_delay: Some(found.gain_delay),
        delay_s: Some(found.delay.as_secs_f64()),
        remedy: Some(found.remedy),
        swing: None,
        share: None,
        vc: None,
    };
    let in_vain = |found: AskedInVain| UnsettledSummary {
        port: port_name(scenario, found.port),
        algorithm: control_names(scenario.port(found.port)).into_iter().next().unwrap_or_default(),
        by: "phase",
        connections: found.connections as u64,
        gain_delay: None,
        delay_s: Some(found.period.as_secs_f64()),
        remedy: Some("another period, or an MCR of 10 cells/s or more".to_owned()),
        swing: None,
        share: None,
        vc: None,
    };
    let by_rule = stability::cannot_settle(scenario).into_iter().map(row);
    by_rule.chain(phases::asked_in_vain(scenario).into_iter().map(in_vain)).collect()
}

/// The connections that were refused before anything ran.
pub fn refused(scenario: &Scenario) -> Vec<RefusedSummary> {
    let row = |refused: &Refused| RefusedSummary {
        vc: refused.vc.clone(),
        category: refused.category.word(),
        reason: refused.reason.clone(),
    };
    scenario.refused.iter().map(row).collect()
}

/// Parameters that negotiation changed.
pub fn negotiated(scenario: &Scenario) -> Vec<NegotiatedSummary> {
    let row = |change: &Negotiated| NegotiatedSummary {
        vc: if change.backward { format!("{} (back)", change.vc) } else { change.vc.clone() },
        node: change.node.clone(),
        parameter: change.parameter,
        from: change.from.clone(),
        to: change.to.clone(),
        why: change.why.clone(),
    };
    scenario.negotiated.iter().map(row).collect()
}
