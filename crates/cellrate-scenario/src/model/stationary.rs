//! Whether what is sent stays the same from the middle of a run on.

use cellrate_proto::Time;

use crate::model::{Category, Connection, Flow, GreedyWindow, Scenario, Traffic};

impl Scenario {
    /// Whether, from the middle of the run on, every ABR sender with traffic is greedy and stays so, and CBR and VBR
    /// are sent at constant rates, over links that do not change: then rates that still change are the network's own
    /// doing, and fair shares are those of all.
    pub fn is_stationary(&self) -> bool {
        let middle = Time::from_ps(self.duration.as_ps() / 2);
        let end = Time::ZERO.saturating_add(self.duration);
        let is_calm = |flow: &Flow, category: Category| match (&flow.traffic, category) {
            (None, _) | (_, Category::Gfr | Category::Ubr) => true,
            (Some(Traffic::Greedy { windows }), _) => {
                windows.is_empty()
                    || windows.iter().all(|window| over(window, middle) || lasts(window, middle, end))
                        && windows.iter().any(|window| lasts(window, middle, end))
            }
            (Some(Traffic::Constant { start, end: last, .. }), Category::Cbr | Category::Vbr) => {
                *start <= middle && *last >= end
            }
            (Some(Traffic::Limited { steps }), Category::Cbr | Category::Vbr) => {
                steps.iter().all(|(at, _)| *at <= middle)
            }
            _ => false,
        };
        let is_all_calm = |connection: &Connection| {
            !connection.carries_packets()
                && [&connection.forward, &connection.backward]
                    .into_iter()
                    .all(|flow| is_calm(flow, connection.category))
        };
        self.connections.iter().all(is_all_calm)
            && self.links.iter().all(|link| link.outages.is_empty() && !link.is_changing())
    }
}

/// Whether a window is over by the middle.
fn over(window: &GreedyWindow, middle: Time) -> bool {
    window.end <= middle
}

/// Whether a window is open from the middle to the end.
fn lasts(window: &GreedyWindow, middle: Time, end: Time) -> bool {
    window.cells.is_none() && window.start <= middle && window.end >= end
}
