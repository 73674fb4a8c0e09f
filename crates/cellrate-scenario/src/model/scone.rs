//! Elements of SCONE at the adapters of a host in a live run.

use cellrate_proto::declaration::{Dimension, Kind, Table};
use cellrate_proto::scone::{ElementConfig, PERIOD, RateSignal};
use cellrate_proto::{BitRate, Duration};

use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::tree::Node;
use crate::text::written::{from_node, setting};

/// Throughput advice that the adapters of a host write into SCONE packets of QUIC, both ways. Without any of the first
/// two keys nothing is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Table)]
#[table(name = "scone", written)]
pub struct SconeElements {
    /// Advice for what the host sends: "acr", what ACR of the vc carries in datagrams of 1200 octets, shared by the
    /// flows that were advised in the last 67 s; or a rate by policy, for each flow.
    #[key(default = "none", as = Option<Advised>)]
    pub leaving: Option<Advised>,
    /// Advice for what comes for the host: a rate by policy, for each flow, as of an element behind the network.
    #[key(default = "none", as = Option<PolicyRate>)]
    pub arriving: Option<BitRate>,
    /// Time between updates of a flow, after its first three and the three after its advice has changed; at most half
    /// of the period of 67 s.
    #[key(default = "20 s", holds(every <= LONGEST, "at most 33.5 s"))]
    pub every: Duration,
    /// Updates of a flow in 67 s at most, however often its advice changes.
    #[key(default = "12", kind = Kind::Integer(1, 10_000))]
    pub most: u32,
}

const LONGEST: Duration = Duration::from_ps(PERIOD.as_ps() / 2);

impl SconeElements {
    /// How often its elements update.
    pub fn element(&self) -> ElementConfig {
        ElementConfig { every: self.every, most: self.most, ..ElementConfig::default() }
    }
}

/// The advice of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advised {
    /// The rate that ACR carries.
    Acr,
    /// Always the same rate.
    Policy(BitRate),
}

/// A rate that SCONE can say.
struct PolicyRate;

setting!(Advised, Kind::Or(&[Kind::Positive(Dimension::LineRate), Kind::Choice(&["acr"])]));
setting!(PolicyRate => BitRate, Kind::Positive(Dimension::LineRate), true);

from_node! {
    Advised: |node| if node.text() == Some("acr") { Ok(Advised::Acr) } else { policy(node).map(Advised::Policy) };
    PolicyRate: policy;
}

fn policy(node: &Node) -> Result<BitRate, Fault> {
    let rate = quantity::line_rate(node)?;
    let [least, most] =
        [RateSignal::LOWEST, RateSignal::HIGHEST].map(|signal| signal.rate().unwrap_or_default());
    if (least..=most).contains(&rate) {
        return Ok(rate);
    }
    let message = format!("{} is no rate that SCONE can advise", node.plain());
    Err(Fault::new(node.place, message, "It must be from 100 kbps to 199.5 Gbps"))
}
