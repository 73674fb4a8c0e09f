//! Whether what is sent stays the same from the middle of a run on.

use cellrate_proto::Time;

use crate::model::{Category, Connection, Flow, Scenario, Traffic};

impl Scenario {
    /// Whether, from the middle of the run on, every ABR sender with traffic is greedy and stays so, and CBR and VBR
    /// are sent at constant rates, over links that do not change: then rates that still change are the network's own
    /// doing, and fair shares are those of all.
    pub fn is_stationary(&self) -> bool {
        let middle = Time::from_ps(self.duration.as_ps() / 2);
        let end = Time::ZERO.saturating_add(self.duration);
        let is_calm = |flow: &Flow, category: Category| match (&flow.traffic, category) {
            (None, _) | (_, Category::Gfr | Category::Ubr) => true,
            (Some(traffic), _) => {
                let is_guaranteed = matches!(category, Category::Cbr | Category::Vbr);
                (is_guaranteed || matches!(traffic, Traffic::Greedy(_)))
                    && traffic.kind().is_steady(middle, end)
            }
        };
        let is_all_calm = |connection: &Connection| {
            !connection.carries_packets()
                && [&connection.forward, &connection.backward]
                    .into_iter()
                    .all(|flow| is_calm(flow, connection.category))
        };
        self.connections.iter().all(is_all_calm)
            && self.links.iter().all(|link| link.line.outages.is_empty() && !link.is_changing())
    }
}
