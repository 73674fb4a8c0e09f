//! A source-bottlenecked application: data at no more than a rate that changes in time. What could not be sent in time
//! was never produced, so there is no backlog to burst from.

use cellrate_proto::declaration::{Kind, Shape, key};
use cellrate_proto::{CellRate, Duration, Time};

use super::kinds::Declared;
use super::{Draws, Generate, Generated, TrafficKind};
use crate::keys::{RATE, TIME};
use crate::text::error::Fault;
use crate::text::reading::instant;
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};
use crate::values::ClockOffset;

/// Data at no more than a rate that changes in time, without backlog: a source-bottlenecked application.
#[derive(Clone, Debug, PartialEq)]
pub struct Limited {
    /// From each instant on, the limit; `None` is no limit. The first starts at or after 0; before it nothing is sent.
    pub steps: Vec<(Time, Option<CellRate>)>,
}

impl Declared for Limited {
    const SHAPE: Shape = Shape {
        name: "limited",
        about: "Data at no more than a rate that changes in time, without backlog.",
        keys: &[
            key(
                "steps",
                Kind::List(&Kind::Pair(&TIME, &Kind::Or(&[RATE, Kind::Choice(&["unlimited"])])), 1),
                "required: this or rate",
                "[instant, rate] from each instant on, in order; before the first nothing is sent.",
            ),
            key("rate", RATE, "required: this or steps", "A single rate, from the start on."),
        ],
    };

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<Limited, Fault> {
        let rate_or_none = |node: &Node| {
            if node.text() == Some("unlimited") { Ok(None) } else { quantity::cell_rate(node).map(Some) }
        };
        match (table.node("steps"), table.node("rate")) {
            (Some(_), Some(rate)) => {
                Err(Fault::new(rate.place, "the traffic has both steps and a rate", "Write one of them"))
            }
            (None, None) => Err(check::missing(node.place, "rate", "such as \"10 Mbps\", or steps")),
            (None, Some(rate)) => Ok(Limited { steps: vec![(Time::ZERO, rate_or_none(rate)?)] }),
            (Some(list), None) => {
                let mut steps: Vec<(Time, Option<CellRate>)> = Vec::new();
                for node in check::list(list)? {
                    let [at, rate] = check::pair(node)?;
                    let at_time = instant(at)?;
                    if steps.last().is_some_and(|(last, _)| at_time <= *last) {
                        let message = format!("{} is not after the step before it", at.plain());
                        return Err(Fault::new(at.place, message, "Write steps in order of time"));
                    }
                    steps.push((at_time, rate_or_none(rate)?));
                }
                Ok(Limited { steps })
            }
        }
    }
}

impl TrafficKind for Limited {
    fn delay(&mut self, phase: Duration) {
        self.steps.iter_mut().for_each(|(at, _)| *at = at.saturating_add(phase));
    }

    fn scale(&mut self, offset: ClockOffset) {
        let rates = self.steps.iter_mut().filter_map(|(_, rate)| rate.as_mut());
        rates.for_each(|rate| *rate = offset.of_rate(*rate));
    }

    fn changes(&self) -> Vec<Time> {
        self.steps.iter().map(|&(at, _)| at).collect()
    }

    fn sends_at(&self, at: Time) -> bool {
        let step = self.steps.iter().rfind(|(from, _)| *from <= at);
        step.is_some_and(|(_, limit)| limit.is_none_or(|limit| limit > CellRate::new(0.0)))
    }

    fn rate(&self, peak: CellRate) -> Option<CellRate> {
        match self.steps[..] {
            [(_, limit)] => Some(limit.unwrap_or(peak).min(peak)),
            _ => None,
        }
    }

    fn rate_at(&self, at: Time, peak: CellRate) -> Option<CellRate> {
        let (_, limit) = self.steps.iter().rfind(|(from, _)| *from <= at)?;
        Some(limit.unwrap_or(peak).min(peak))
    }

    fn is_steady(&self, from: Time, _to: Time) -> bool {
        self.steps.iter().all(|(at, _)| *at <= from)
    }
}

impl Generated for Limited {
    type Cells<D: Draws> = LimitedCells;

    fn cells<D: Draws>(&self, _draws: impl FnOnce() -> D) -> LimitedCells {
        let spacing = |limit: Option<CellRate>| limit.map_or(Duration::ZERO, CellRate::interval);
        LimitedCells {
            steps: self.steps.iter().map(|&(start, limit)| (start, spacing(limit))).collect(),
            last: None,
        }
    }
}

/// Cells of [`Limited`] traffic, as they come.
#[derive(Clone, Debug)]
pub struct LimitedCells {
    /// From each instant on, the spacing of data cells: zero without a limit, forever for a limit of zero.
    steps: Vec<(Time, Duration)>,
    last: Option<Time>,
}

impl Generate for LimitedCells {
    fn available_from(&self, from: Time) -> Time {
        // In each step the cell waits from the later of the step's start and one spacing after the last cell.
        for (index, &(start, spacing)) in self.steps.iter().enumerate() {
            let end = self.steps.get(index + 1).map_or(Time::NEVER, |&(next, _)| next);
            let earliest = self.last.map_or(Time::ZERO, |last| last.saturating_add(spacing));
            let idle = if spacing == Duration::FOREVER { Time::NEVER } else { earliest };
            let at = from.max(start).max(idle);
            if at < end {
                return at;
            }
        }
        Time::NEVER
    }

    fn take(&mut self, now: Time) {
        self.last = Some(now);
    }

    fn waiting(&self, _now: Time) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::kinds::NoDraws;

    #[test]
    fn cells_keep_the_spacing_of_the_step_they_leave_in() {
        let (slow, fast) = (CellRate::new(1e9), CellRate::new(1e11));
        let steps = vec![
            (Time::ZERO, Some(slow)),
            (Time::from_ps(10_000), Some(fast)),
            (Time::from_ps(20_000), None),
        ];
        let mut limited = Limited { steps }.cells(|| NoDraws);
        assert_eq!(limited.available_from(Time::ZERO), Time::ZERO);
        limited.take(Time::ZERO);
        assert_eq!(limited.available_from(Time::ZERO), Time::from_ps(1_000));
        assert_eq!(limited.available_from(Time::from_ps(1_500)), Time::from_ps(1_500));
        limited.take(Time::from_ps(9_500));
        assert_eq!(limited.available_from(Time::from_ps(9_501)), Time::from_ps(10_000));
        limited.take(Time::from_ps(20_000));
        assert_eq!(limited.available_from(Time::from_ps(20_000)), Time::from_ps(20_000));
    }

    #[test]
    fn a_limit_of_zero_stops_the_application_until_the_next_step() {
        let steps = vec![(Time::ZERO, Some(CellRate::ZERO)), (Time::from_ps(500), None)];
        let limited = Limited { steps }.cells(|| NoDraws);
        assert_eq!(limited.available_from(Time::ZERO), Time::from_ps(500));
    }
}
