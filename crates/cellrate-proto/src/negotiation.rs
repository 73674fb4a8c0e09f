//! Negotiation along a path, as call set-up does it (paper abr-parameters, table 1 and sections 3.2 to 6.2; TM 4.0,
//! 5.10.2).
//!
//! The source's parameters travel node by node to the destination. Each node may lower PCR, MCR (not below MCRmin),
//! ICR, TBE and RIF; raise RDF, or lower it by no more than the factor by which it cut RIF; and add to FRTT what its
//! link and it itself take. Of the optional parameters, where they are signalled, it may set Nrm and Trm, lower ADTF
//! and raise CDF. What arrives is what both ends use; the source then computes CRM = ceil(TBE / Nrm) and ICR = min(ICR,
//! TBE / FRTT).
//!
//! A node lowers RIF, RDF, TBE and ICR to limits of its own, or by [`rules`] that go by FRTT, PCR and what it has left.
//!
//! All rates are whole cells/s on the way, rounded down as [`signalling`](crate::signalling) carries them.

pub mod rules;

use core::fmt;

use alloc::string::String;
use alloc::vec::Vec;

use crate::AbrParameters;
use crate::parameters::{MAX_FRTT, MAX_RATE, ParameterError, PowerOfTwo};
use crate::signalling::{Signalled, carried};
use crate::units::{CellRate, Cells, Duration};
use rules::{Resources, Rules};

/// Parameters that a source asks for, in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Parameters that it would like. FRTT: what the end systems themselves take.
    pub parameters: AbrParameters,
    /// MCRmin [cells/s, at most MCR]; `None` when it is not signalled, and MCR is then not negotiable.
    pub mcr_min: Option<CellRate>,
    /// Which of the optional parameters are signalled; the others are left as they are.
    pub signalled: Optional,
}

/// The parameters whose signalling is optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Optional {
    /// Nrm.
    pub nrm: bool,
    /// Trm.
    pub trm: bool,
    /// CDF.
    pub cdf: bool,
    /// ADTF.
    pub adtf: bool,
}

impl Optional {
    /// All of them.
    pub const ALL: Optional = Optional { nrm: true, trm: true, cdf: true, adtf: true };
    /// None of them.
    pub const NONE: Optional = Optional { nrm: false, trm: false, cdf: false, adtf: false };
}

/// A node of the path and the link it sends on. What is `None` it leaves alone.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Node {
    /// Its name in the trace.
    pub name: String,
    /// Rate of the link it sends on: PCR is at most this [cells/s].
    pub link: Option<CellRate>,
    /// Rate that admission control can still promise on that link: MCR is at most this [cells/s].
    pub room: Option<CellRate>,
    /// Largest PCR it allows [cells/s].
    pub pcr: Option<CellRate>,
    /// Largest MCR it allows [cells/s].
    pub mcr: Option<CellRate>,
    /// Largest ICR it allows [cells/s].
    pub icr: Option<CellRate>,
    /// Largest TBE it allows, by its buffers \[cells\].
    pub tbe: Option<Cells>,
    /// Largest RIF it allows.
    pub rif: Option<PowerOfTwo>,
    /// The RDF it wants: larger is granted, smaller as far as it cut RIF.
    pub rdf: Option<PowerOfTwo>,
    /// The Nrm it wants [cells, a power of two from 2 to 256].
    pub nrm: Option<u32>,
    /// The Trm it wants [100 ms * 2^k, k = -7 to 0].
    pub trm: Option<Duration>,
    /// Smallest CDF it allows.
    pub cdf: Option<PowerOfTwo>,
    /// Largest ADTF it allows [10 ms to 10.23 s in steps of 10 ms].
    pub adtf: Option<Duration>,
    /// Which parameters it lowers by rules, beside those limits.
    pub rules: Rules,
    /// Resources that it has left on that link, by which the rules go.
    pub resources: Option<Resources>,
    /// One-way delay of the link it sends on.
    pub propagation: Duration,
    /// One-way fixed delay in the node itself.
    pub processing: Duration,
}

/// Parameters that were agreed, and who changed them.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Parameters that both ends use. ICR is the final one, min(ICR, TBE / FRTT) and not below MCR.
    pub parameters: AbrParameters,
    /// CRM in force, ceil(TBE / Nrm) or as set, and at least 1.
    pub crm: u64,
    /// Who changed what, in the order it happened.
    pub changes: Vec<Change>,
}

/// One change of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Position of the node on the path, from 0; `None` for the source itself.
    pub node: Option<usize>,
    /// Which parameter, in the standard's symbol, lower case.
    pub parameter: &'static str,
    /// Value before.
    pub from: Value,
    /// Value after.
    pub to: Value,
    /// Reason of the change.
    pub why: Reason,
}

/// A value of any parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// PCR, MCR, ICR.
    Rate(CellRate),
    /// TBE, Nrm.
    Cells(Cells),
    /// RIF, RDF, CDF; `None` is 0.
    Factor(Option<PowerOfTwo>),
    /// FRTT, Trm, ADTF.
    Span(Duration),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Rate(rate) => write!(f, "{rate}"),
            Value::Cells(cells) => write!(f, "{cells}"),
            Value::Factor(Some(factor)) => write!(f, "{factor}"),
            Value::Factor(None) => f.write_str("0"),
            Value::Span(span) => write!(f, "{span}"),
        }
    }
}

/// Why a parameter changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// Rates are carried in whole cells/s.
    Rounding,
    /// Rates are carried in 24 bits.
    Signalling,
    /// The rate of the link that the node sends on.
    Link,
    /// Rate that admission control has left on that link.
    Room,
    /// The node's own limit or wish.
    Limit,
    /// A rule of the node, by FRTT, PCR and what it has left.
    Rule,
    /// The node wants RDF lower still than its cut of RIF allows: this value.
    LimitedByRif(PowerOfTwo),
    /// ICR and MCR are at most PCR.
    FollowsPcr,
    /// The link's propagation and the node's processing, there and back.
    Path,
    /// TBE cells in the first round trip: TBE / FRTT.
    Exposure,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Rounding => f.write_str("signalling carries whole cells/s"),
            Reason::Signalling => f.write_str("signalling carries 16777215 cells/s at most"),
            Reason::Link => f.write_str("rate of its link"),
            Reason::Room => f.write_str("what its link can still promise"),
            Reason::Limit => f.write_str("its own limit"),
            Reason::Rule => f.write_str("its rule, by FRTT, PCR and what it has left"),
            Reason::LimitedByRif(wish) => write!(f, "it wants {wish}, and RDF falls by no more than RIF"),
            Reason::FollowsPcr => f.write_str("at most PCR"),
            Reason::Path => f.write_str("its link and processing, both ways"),
            Reason::Exposure => f.write_str("TBE / FRTT"),
        }
    }
}

/// Why there is no agreement.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// A parameter that was asked is out of range.
    Asked(ParameterError),
    /// A node cannot give the MCR that must be.
    BelowMinimum {
        /// Position of the node on the path.
        node: usize,
        /// MCRmin, or MCR where it is not negotiable.
        least: CellRate,
        /// The most the node gives.
        most: CellRate,
        /// The limit that keeps it from more.
        why: Reason,
    },
    /// A node leaves no PCR of 1 cell/s.
    NoPeak {
        /// Position of the node on the path.
        node: usize,
    },
    /// A node's limit is no value that the parameter can have.
    Limit {
        /// Position of the node on the path.
        node: usize,
        /// Which and why.
        error: ParameterError,
    },
    /// FRTT is more than signalling carries.
    TooLong {
        /// Position of the node on the path.
        node: usize,
        /// FRTT up to it.
        frtt: Duration,
    },
}

impl Refusal {
    /// Position on the path of the node that refuses; `None` when the offer itself is at fault.
    pub fn node(&self) -> Option<usize> {
        match *self {
            Refusal::Asked(_) => None,
            Refusal::BelowMinimum { node, .. }
            | Refusal::NoPeak { node }
            | Refusal::Limit { node, .. }
            | Refusal::TooLong { node, .. } => Some(node),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Asked(error) => write!(f, "{error}"),
            Refusal::BelowMinimum { least, most, why, .. } => {
                write!(f, "its MCR must be at least {least}, and the most there is {most} ({why})")
            }
            Refusal::NoPeak { .. } => f.write_str("no PCR of 1 cell/s is left"),
            Refusal::Limit { error, .. } => write!(f, "the limit of the node is no possible value: {error}"),
            Refusal::TooLong { frtt, .. } => {
                write!(f, "FRTT is {frtt}, and signalling carries at most {MAX_FRTT}")
            }
        }
    }
}

impl core::error::Error for Refusal {}

/// Takes an offer along `path` and gives what both ends use.
///
/// ```
/// use cellrate_proto::negotiation::{Node, Offer, Optional, negotiate};
/// use cellrate_proto::{AbrParameters, CellRate, Cells, Duration};
/// let parameters = AbrParameters::new(CellRate::new(366_792.0));
/// let offer = Offer { parameters, mcr_min: None, signalled: Optional::ALL };
/// let switch = Node { tbe: Some(Cells(512)), propagation: Duration::from_ms(15), ..Node::default() };
/// let agreed = negotiate(&offer, &[switch]).unwrap();
/// assert_eq!(agreed.crm, 16); // 512 / 32
/// assert_eq!(agreed.parameters.icr, CellRate::new(17_066.0)); // 512 cells in 30 ms
/// ```
///
/// # Errors
/// [`Refusal`], with the first node that cannot go along.
pub fn negotiate(offer: &Offer, path: &[Node]) -> Result<Agreement, Refusal> {
    let mut set_up = SetUp::begin(offer)?;
    for (place, node) in path.iter().enumerate() {
        set_up.pass(place, node)?;
    }
    Ok(set_up.finish())
}

/// An offer on its way.
struct SetUp {
    parameters: AbrParameters,
    least_mcr: CellRate,
    signalled: Optional,
    changes: Vec<Change>,
}

/// Limits of a node, each with its reason.
#[derive(Clone, Copy)]
struct Limits {
    tbe: Option<(Cells, Reason)>,
    icr: Option<(CellRate, Reason)>,
    rif: Option<(PowerOfTwo, Reason)>,
    rdf: Option<(PowerOfTwo, Reason)>,
}

/// The lower one of a limit of the node's own and one by a rule, with its reason.
fn least<T: Copy>(own: Option<T>, rule: Option<T>, size: fn(T) -> f64) -> Option<(T, Reason)> {
    match (own, rule) {
        (Some(own), Some(rule)) if size(rule) < size(own) => Some((rule, Reason::Rule)),
        (Some(own), _) => Some((own, Reason::Limit)),
        (None, rule) => rule.map(|rule| (rule, Reason::Rule)),
    }
}

impl SetUp {
    fn begin(offer: &Offer) -> Result<SetUp, Refusal> {
        let asked = &offer.parameters;
        let most = CellRate::new(MAX_RATE);
        let least = |rate: CellRate| rate.min(most);
        let within = AbrParameters {
            pcr: least(asked.pcr),
            mcr: least(asked.mcr),
            icr: least(asked.icr),
            ..asked.clone()
        };
        let told = Signalled::encode(&within).and_then(|code| code.decode()).map_err(Refusal::Asked)?;
        let least_mcr = carried(offer.mcr_min.unwrap_or(asked.mcr)).min(told.mcr);
        let parameters = AbrParameters { crm: asked.crm, ..asked.clone() };
        let mut set_up = SetUp { parameters, least_mcr, signalled: offer.signalled, changes: Vec::new() };
        let why = |rate: CellRate| if rate > most { Reason::Signalling } else { Reason::Rounding };
        set_up.rate(None, "pcr", told.pcr, why(asked.pcr));
        set_up.rate(None, "mcr", told.mcr, why(asked.mcr));
        set_up.rate(None, "icr", told.icr, why(asked.icr));
        // FRTT is a sum on the way, and rounded where it is added to: no change of its own.
        set_up.parameters.frtt = told.frtt;
        Ok(set_up)
    }

    fn pass(&mut self, place: usize, node: &Node) -> Result<(), Refusal> {
        node.check().map_err(|error| Refusal::Limit { node: place, error })?;
        let limits = self.rates(place, node)?;
        if let Some((tbe, why)) = limits.tbe.filter(|(tbe, _)| *tbe < self.parameters.tbe) {
            let from = core::mem::replace(&mut self.parameters.tbe, tbe);
            self.changed(place, "tbe", Value::Cells(from), Value::Cells(tbe), why);
        }
        self.factors(place, &limits);
        self.optional(place, node);
        let from = self.parameters.frtt;
        let frtt = self.frtt_with(node);
        if frtt > MAX_FRTT {
            return Err(Refusal::TooLong { node: place, frtt });
        }
        if frtt > from {
            self.parameters.frtt = frtt;
            self.changed(place, "frtt", Value::Span(from), Value::Span(frtt), Reason::Path);
        }
        Ok(())
    }

    /// FRTT with what the node and its link add, in whole microseconds.
    fn frtt_with(&self, node: &Node) -> Duration {
        let microsecond = Duration::from_us(1);
        let added = node.propagation.saturating_add(node.processing).saturating_mul(2).div_ceil(microsecond);
        self.parameters.frtt.saturating_add(microsecond.saturating_mul(added))
    }

    /// The node's limits of what it lowers by rules, too. FRTT is what it is up to the node's link, and PCR what the
    /// node leaves.
    fn limits(&self, node: &Node) -> Limits {
        let (rules, pcr, frtt) = (node.rules, self.parameters.pcr, self.frtt_with(node));
        let nrm = node.nrm.filter(|_| self.signalled.nrm).unwrap_or(self.parameters.nrm);
        let factor = |asked: bool, rule: fn(CellRate, Duration, u32) -> PowerOfTwo| {
            asked.then(|| rule(pcr, frtt, nrm))
        };
        let tbe = node.resources.filter(|_| rules.tbe).and_then(|left| left.buffer);
        let icr = node.resources.filter(|_| rules.icr);
        // A rule lowers RDF and never raises it, as a wish may.
        let rdf = factor(rules.rdf, rules::largest_rdf);
        let rdf = rdf.filter(|rdf| rdf.value() < node.rdf.unwrap_or(self.parameters.rdf).value());
        Limits {
            tbe: least(node.tbe, tbe.map(|buffer| rules::largest_exposure(pcr, frtt, buffer)), |cells| {
                cells.0 as f64
            }),
            icr: least(
                node.icr,
                icr.and_then(|left| rules::largest_initial_rate(&left, frtt)),
                CellRate::as_cells_per_s,
            ),
            rif: least(node.rif, factor(rules.rif, rules::largest_rif), PowerOfTwo::value),
            rdf: rdf.map(|rdf| (rdf, Reason::Rule)).or(node.rdf.map(|rdf| (rdf, Reason::Limit))),
        }
    }

    /// PCR, MCR and ICR; gives the limits of the node by the PCR that it leaves.
    fn rates(&mut self, place: usize, node: &Node) -> Result<Limits, Refusal> {
        let here = Some(place);
        for (limit, why) in [(node.link, Reason::Link), (node.pcr, Reason::Limit)] {
            let Some(limit) = limit.map(carried) else { continue };
            if limit < CellRate::new(1.0) {
                return Err(Refusal::NoPeak { node: place });
            }
            self.rate(here, "pcr", limit, why);
        }
        let pcr = self.parameters.pcr;
        for (limit, why) in
            [(node.room, Reason::Room), (node.mcr, Reason::Limit), (Some(pcr), Reason::FollowsPcr)]
        {
            let Some(most) = limit.map(carried) else { continue };
            if most < self.least_mcr {
                return Err(Refusal::BelowMinimum { node: place, least: self.least_mcr, most, why });
            }
            self.rate(here, "mcr", most, why);
        }
        // A node that allows less ICR than MCR cannot mean it: MCR is what the source may always send.
        let (mcr, limits) = (self.parameters.mcr, self.limits(node));
        for (limit, why) in limits.icr.into_iter().chain([(pcr, Reason::FollowsPcr)]) {
            self.rate(here, "icr", carried(limit).max(mcr), why);
        }
        Ok(limits)
    }

    /// RIF down; RDF up, or down by no more than RIF.
    fn factors(&mut self, place: usize, limits: &Limits) {
        let before = self.parameters.rif;
        if let Some((rif, why)) = limits.rif.filter(|(rif, _)| rif.value() < before.value()) {
            self.parameters.rif = rif;
            self.changed(place, "rif", Value::Factor(Some(before)), Value::Factor(Some(rif)), why);
        }
        let Some((wish, by)) = limits.rdf else { return };
        let from = self.parameters.rdf;
        let cut = self.parameters.rif.negative_exponent() - before.negative_exponent();
        let lowest = (from.negative_exponent() + cut).min(15);
        let Some(rdf) = PowerOfTwo::from_negative_exponent(wish.negative_exponent().min(lowest)) else {
            return;
        };
        if rdf != from {
            self.parameters.rdf = rdf;
            let why = if rdf == wish { by } else { Reason::LimitedByRif(wish) };
            self.changed(place, "rdf", Value::Factor(Some(from)), Value::Factor(Some(rdf)), why);
        }
    }

    fn optional(&mut self, place: usize, node: &Node) {
        if let Some(nrm) = node.nrm.filter(|nrm| self.signalled.nrm && *nrm != self.parameters.nrm) {
            let from = core::mem::replace(&mut self.parameters.nrm, nrm);
            let value = |nrm: u32| Value::Cells(Cells(u64::from(nrm)));
            self.changed(place, "nrm", value(from), value(nrm), Reason::Limit);
        }
        if let Some(trm) = node.trm.filter(|trm| self.signalled.trm && *trm != self.parameters.trm) {
            let from = core::mem::replace(&mut self.parameters.trm, trm);
            self.changed(place, "trm", Value::Span(from), Value::Span(trm), Reason::Limit);
        }
        let size = |cdf: Option<PowerOfTwo>| cdf.map_or(0.0, PowerOfTwo::value);
        if let Some(cdf) = node.cdf.filter(|_| self.signalled.cdf)
            && cdf.value() > size(self.parameters.cdf)
        {
            let from = self.parameters.cdf.replace(cdf);
            self.changed(place, "cdf", Value::Factor(from), Value::Factor(Some(cdf)), Reason::Limit);
        }
        if let Some(adtf) = node.adtf.filter(|adtf| self.signalled.adtf && *adtf < self.parameters.adtf) {
            let from = core::mem::replace(&mut self.parameters.adtf, adtf);
            self.changed(place, "adtf", Value::Span(from), Value::Span(adtf), Reason::Limit);
        }
    }

    fn finish(mut self) -> Agreement {
        self.rate(
            None,
            "icr",
            carried(self.parameters.effective_icr()).max(self.parameters.mcr),
            Reason::Exposure,
        );
        Agreement { crm: self.parameters.effective_crm(), parameters: self.parameters, changes: self.changes }
    }

    /// Lowers a rate to `limit`, if that is lower.
    fn rate(&mut self, node: Option<usize>, parameter: &'static str, limit: CellRate, why: Reason) {
        let rate = match parameter {
            "pcr" => &mut self.parameters.pcr,
            "mcr" => &mut self.parameters.mcr,
            _ => &mut self.parameters.icr,
        };
        if limit < *rate {
            let from = core::mem::replace(rate, limit);
            self.changes.push(Change {
                node,
                parameter,
                from: Value::Rate(from),
                to: Value::Rate(limit),
                why,
            });
        }
    }

    fn changed(&mut self, place: usize, parameter: &'static str, from: Value, to: Value, why: Reason) {
        self.changes.push(Change { node: Some(place), parameter, from, to, why });
    }
}

impl Node {
    /// Says which limit is no value that its parameter can have, first.
    pub fn check(&self) -> Result<(), ParameterError> {
        // Everything but the limits is as good as any: the standard's own check judges them.
        let mut limits = AbrParameters::new(CellRate::new(1.0));
        limits.nrm = self.nrm.unwrap_or(limits.nrm);
        limits.trm = self.trm.unwrap_or(limits.trm);
        limits.cdf = self.cdf.or(limits.cdf);
        limits.adtf = self.adtf.unwrap_or(limits.adtf);
        limits.tbe = self.tbe.unwrap_or(limits.tbe);
        limits.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signalling::tests::any_parameters;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec;

    fn power(k: u8) -> PowerOfTwo {
        PowerOfTwo::from_negative_exponent(k).unwrap()
    }

    #[test]
    fn a_node_lowers_by_its_rules_what_the_source_asks_for() {
        // 353,207 cells/s over 10 ms there and back: 110 steps of Nrm = 32, so RIF 1/512 and RDF 1/256. The buffer of
        // 500 cells and 3,532.07 cells on the way are TBE; ICR has its fifth of 300,000 and of 500 cells in 10 ms.
        let resources = Resources { rate: CellRate::new(3e5), buffer: Some(Cells(500)), sharers: 5 };
        let node = Node {
            link: Some(CellRate::new(353_207.0)),
            propagation: Duration::from_ms(5),
            rules: Rules { rif: true, rdf: true, tbe: true, icr: true },
            resources: Some(resources),
            ..Node::default()
        };
        let asks = offer(|asked| (asked.rif, asked.tbe) = (power(0), Cells(1 << 20)));
        let agreed = negotiate(&asks, core::slice::from_ref(&node)).unwrap();
        let AbrParameters { rif, rdf, tbe, icr, .. } = agreed.parameters;
        assert_eq!((rif, rdf, tbe, icr), (power(9), power(8), Cells(4_033), CellRate::new(70_000.0)));
        let by_rule = agreed.changes.iter().filter(|change| change.why == Reason::Rule);
        let named: Vec<_> = by_rule.map(|change| change.parameter).collect();
        assert_eq!(named, ["icr", "tbe", "rif", "rdf"]);
        // A limit of its own that is lower holds, and what is lower already stays.
        let stricter = Node { rif: Some(power(12)), tbe: Some(Cells(64)), ..node };
        let agreed = negotiate(&asks, &[stricter.clone(), stricter]).unwrap();
        assert_eq!((agreed.parameters.rif, agreed.parameters.tbe), (power(12), Cells(64)));
        assert!(agreed.changes.iter().all(|change| change.parameter != "tbe" || change.why == Reason::Limit));
    }

    #[test]
    fn a_rule_never_raises_rdf_and_lowers_it_by_no_more_than_rif() {
        let rules = Rules { rdf: true, ..Rules::default() };
        let far = Node { propagation: Duration::from_ms(50), rules, ..Node::default() };
        let agreed = negotiate(&offer(|_| {}), &[far]).unwrap();
        assert_eq!(agreed.parameters.rdf, power(4), "RIF was not cut");
        let near = Node { rules, ..Node::default() };
        let agreed = negotiate(&offer(|asked| asked.rdf = power(15)), &[near]).unwrap();
        assert_eq!(agreed.parameters.rdf, power(15));
    }

    fn offer(change: impl FnOnce(&mut AbrParameters)) -> Offer {
        let mut parameters = AbrParameters::new(CellRate::new(366_792.0));
        change(&mut parameters);
        Offer { parameters, mcr_min: None, signalled: Optional::ALL }
    }

    fn agree(offer: &Offer, path: &[Node]) -> Agreement {
        negotiate(offer, path).unwrap()
    }

    #[test]
    fn a_path_that_limits_nothing_changes_nothing() {
        let asked = offer(|_| ());
        let agreed = agree(&asked, &[Node::default(), Node::default()]);
        assert_eq!((agreed.parameters, agreed.changes), (asked.parameters, vec![]));
        assert_eq!(agreed.crm, 524_288, "ceil(16,777,215 / 32)");
    }

    #[test]
    fn the_trace_says_who_changed_what_and_why() {
        let path = [
            Node { link: Some(CellRate::new(1e6)), propagation: Duration::from_us(5), ..Node::default() },
            Node {
                link: Some(CellRate::new(100_000.7)),
                rif: Some(power(4)),
                tbe: Some(Cells(1000)),
                propagation: Duration::from_ms(5),
                processing: Duration::from_us(2),
                ..Node::default()
            },
        ];
        let agreed = agree(&offer(|p| p.rif = PowerOfTwo::ONE), &path);
        let told: vec::Vec<_> = agreed
            .changes
            .iter()
            .map(|c| std::format!("{:?} {} {} -> {}: {}", c.node, c.parameter, c.from, c.to, c.why))
            .collect();
        // FRTT: 2 * 5 us, then 2 * 5002 us. ICR: 1000 cells / 10.014 ms = 99,860.2 cells/s.
        assert_eq!(
            told,
            [
                "Some(0) frtt 0 ps -> 10 us: its link and processing, both ways",
                "Some(1) pcr 366792 cells/s -> 100000 cells/s: rate of its link",
                "Some(1) icr 366792 cells/s -> 100000 cells/s: at most PCR",
                "Some(1) tbe 16777215 cells -> 1000 cells: its own limit",
                "Some(1) rif 1 -> 1/16: its own limit",
                "Some(1) frtt 10 us -> 10.014 ms: its link and processing, both ways",
                "None icr 100000 cells/s -> 99860 cells/s: TBE / FRTT",
            ]
        );
    }

    #[test]
    fn rdf_rises_freely_and_falls_by_no_more_than_rif() {
        let node = |rif, rdf| Node { rif: Some(power(rif)), rdf: Some(power(rdf)), ..Node::default() };
        let rdf = |node| agree(&offer(|p| (p.rif, p.rdf) = (power(4), power(4))), &[node]).parameters.rdf;
        assert_eq!(rdf(node(4, 1)), power(1));
        // RIF 1/16 -> 1/64 is a cut by 4: RDF from 1/16 to 1/64 at the least.
        assert_eq!(rdf(node(6, 6)), power(6));
        assert_eq!(rdf(node(6, 9)), power(6));
        assert_eq!(rdf(node(4, 5)), power(4), "RIF is not cut");
        assert_eq!(rdf(node(2, 5)), power(4), "RIF is never raised");
        let cut = agree(&offer(|p| (p.rif, p.rdf) = (power(4), power(4))), &[node(6, 9)]);
        assert_eq!(cut.changes[1].why, Reason::LimitedByRif(power(9)));
    }

    #[test]
    fn mcr_falls_to_mcr_min_and_no_further() {
        let mcr = |cells: f64| Node { mcr: Some(CellRate::new(cells)), ..Node::default() };
        let mut asked = offer(|p| p.mcr = CellRate::new(5000.0));
        assert!(matches!(negotiate(&asked, &[mcr(4999.0)]), Err(Refusal::BelowMinimum { node: 0, .. })));
        asked.mcr_min = Some(CellRate::new(4000.0));
        assert_eq!(agree(&asked, &[mcr(4000.0)]).parameters.mcr, CellRate::new(4000.0));
        let refused = negotiate(&asked, &[mcr(4500.0), mcr(3999.0)]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "its MCR must be at least 4000 cells/s, and the most there is 3999 cells/s (its own limit)"
        );
        let narrow = Node { link: Some(CellRate::new(3000.0)), ..Node::default() };
        let refused = negotiate(&asked, &[narrow]).unwrap_err();
        assert!(matches!(refused, Refusal::BelowMinimum { why: Reason::FollowsPcr, .. }), "{refused}");
    }

    #[test]
    fn icr_is_never_below_mcr() {
        let asked = offer(|p| p.mcr = CellRate::new(5000.0));
        let node = Node {
            icr: Some(CellRate::new(10.0)),
            tbe: Some(Cells(10)),
            propagation: Duration::from_ms(100),
            ..Node::default()
        };
        assert_eq!(agree(&asked, &[node]).parameters.icr, CellRate::new(5000.0));
    }

    #[test]
    fn optional_parameters_change_only_where_they_are_signalled() {
        let node = Node {
            nrm: Some(256),
            trm: Some(Duration::from_ms(25)),
            cdf: Some(power(1)),
            adtf: Some(Duration::from_ms(100)),
            ..Node::default()
        };
        let mut asked = offer(|_| ());
        let agreed = agree(&asked, std::slice::from_ref(&node)).parameters;
        assert_eq!((agreed.nrm, agreed.trm, agreed.cdf), (256, Duration::from_ms(25), Some(power(1))));
        assert_eq!(agreed.adtf, Duration::from_ms(100));
        asked.signalled = Optional::NONE;
        assert_eq!(agree(&asked, std::slice::from_ref(&node)).parameters, asked.parameters);
        // CDF only rises, from 0 too; ADTF only falls.
        let asked = offer(|p| (p.cdf, p.adtf) = (None, Duration::from_ms(50)));
        let agreed = agree(&asked, &[node]).parameters;
        assert_eq!((agreed.cdf, agreed.adtf), (Some(power(1)), Duration::from_ms(50)));
        let lower = Node { cdf: Some(power(6)), ..Node::default() };
        assert_eq!(agree(&offer(|_| ()), &[lower]).parameters.cdf, Some(power(4)));
    }

    #[test]
    fn what_no_set_up_could_carry_is_refused() {
        let far = Node { propagation: Duration::from_ms(4_200), ..Node::default() };
        // 8.4 s are carried, 16.8 s are not.
        assert!(negotiate(&offer(|_| ()), std::slice::from_ref(&far)).is_ok());
        let refused = negotiate(&offer(|_| ()), &[far.clone(), far]).unwrap_err();
        assert_eq!(refused.to_string(), "FRTT is 16.8 s, and signalling carries at most 16.777215 s");
        let shut = Node { link: Some(CellRate::new(0.5)), ..Node::default() };
        assert_eq!(negotiate(&offer(|_| ()), &[shut]), Err(Refusal::NoPeak { node: 0 }));
        let odd = Node { nrm: Some(33), ..Node::default() };
        assert!(matches!(negotiate(&offer(|_| ()), &[odd]), Err(Refusal::Limit { node: 0, .. })));
        assert!(matches!(negotiate(&offer(|p| p.nrm = 33), &[]), Err(Refusal::Asked(_))));
    }

    fn node() -> impl Strategy<Value = Node> {
        let limits = (any_parameters(), any::<u16>());
        (limits, 0..300_000_u64, 0..1000_u64).prop_map(|((limits, mask), propagation, processing)| {
            let on = |bit: u32| mask >> bit & 1 == 1;
            Node {
                name: String::new(),
                link: on(0).then_some(limits.pcr),
                room: on(1).then_some(limits.icr),
                pcr: on(2).then_some(limits.pcr),
                mcr: on(3).then_some(limits.mcr),
                icr: on(4).then_some(limits.icr),
                tbe: on(5).then_some(limits.tbe),
                rif: on(6).then_some(limits.rif),
                rdf: on(7).then_some(limits.rdf),
                nrm: on(8).then_some(limits.nrm),
                trm: on(9).then_some(limits.trm),
                cdf: limits.cdf.filter(|_| on(10)),
                adtf: on(11).then_some(limits.adtf),
                rules: Rules { rif: on(12), rdf: on(13), tbe: on(14), icr: on(15) },
                resources: on(0).then_some(Resources {
                    rate: limits.icr,
                    buffer: on(1).then_some(limits.tbe),
                    sharers: u64::from(mask),
                }),
                propagation: Duration::from_us(propagation),
                processing: Duration::from_ns(processing),
            }
        })
    }

    proptest! {
        #[test]
        fn negotiation_never_widens_what_was_asked_and_what_is_agreed_can_be_signalled(
            mut asked in any_parameters(), least in proptest::option::of(0.0..1.0_f64),
            path in proptest::collection::vec(node(), 0..5), optional: [bool; 4],
        ) {
            asked.frtt = Duration::ZERO;
            let [nrm, trm, cdf, adtf] = optional;
            let mcr_min = least.map(|least| asked.mcr * least);
            let offer = Offer { parameters: asked.clone(), mcr_min, signalled: Optional { nrm, trm, cdf, adtf } };
            let Ok(Agreement { parameters: agreed, crm, changes }) = negotiate(&offer, &path) else { return Ok(()) };

            prop_assert_eq!(agreed.check(), Ok(()));
            let carried = Signalled::encode(&agreed).unwrap().decode().unwrap();
            prop_assert_eq!(&carried, &AbrParameters { crm: None, ..agreed.clone() }, "exactly");
            prop_assert!(agreed.pcr <= asked.pcr && agreed.mcr <= asked.mcr);
            prop_assert!(agreed.icr <= asked.icr && agreed.tbe <= asked.tbe);
            prop_assert!(agreed.mcr.as_cells_per_s() >= mcr_min.unwrap_or(asked.mcr).as_cells_per_s().floor());
            prop_assert!(agreed.rif.value() <= asked.rif.value() && agreed.adtf <= asked.adtf);
            let size = |cdf: Option<PowerOfTwo>| cdf.map_or(0.0, PowerOfTwo::value);
            prop_assert!(size(agreed.cdf) >= size(asked.cdf));
            let rif_cut = asked.rif.value() / agreed.rif.value();
            prop_assert!(asked.rdf.value() / agreed.rdf.value() <= rif_cut);
            let delays: Duration = path
                .iter()
                .fold(Duration::ZERO, |sum, node| sum + (node.propagation + node.processing) * 2);
            prop_assert!(agreed.frtt >= delays && agreed.frtt < delays + Duration::from_us(1) * (1 + path.len() as u64));
            for node in &path {
                prop_assert!(node.link.is_none_or(|limit| agreed.pcr <= limit));
                prop_assert!(node.room.is_none_or(|limit| agreed.mcr <= limit));
                prop_assert!(node.tbe.is_none_or(|limit| agreed.tbe <= limit));
                prop_assert!(node.rif.is_none_or(|limit| agreed.rif.value() <= limit.value()));
            }
            prop_assert_eq!(crm, agreed.tbe.0.div_ceil(u64::from(agreed.nrm)).max(1));
            if agreed.frtt > Duration::ZERO {
                let first_round = agreed.icr.cells_in(agreed.frtt);
                prop_assert!(agreed.icr == agreed.mcr || first_round <= agreed.tbe.0 as f64 * (1.0 + 1e-12));
            }
            for (flag, name) in [(nrm, "nrm"), (trm, "trm"), (cdf, "cdf"), (adtf, "adtf")] {
                prop_assert!(flag || changes.iter().all(|change| change.parameter != name));
            }
            // The trace is whole: replayed, it leads from what was asked to what was agreed.
            for change in &changes {
                prop_assert_ne!(change.from, change.to);
            }
            let last = changes.iter().rev().find(|change| change.parameter == "pcr");
            prop_assert_eq!(last.map_or(Value::Rate(asked.pcr), |change| change.to), Value::Rate(agreed.pcr));
        }
    }
}
