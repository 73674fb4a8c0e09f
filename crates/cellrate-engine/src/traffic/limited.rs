//! A source-bottlenecked application: data at no more than a rate that changes in time. What could not be sent in time
//! was never produced, so there is no backlog to burst from.

use cellrate_proto::{CellRate, Duration, Time};

/// Limited traffic at work.
#[derive(Clone, Debug)]
pub struct Limited {
    /// From each instant on, the spacing of data cells: zero without a limit, forever for a limit of zero.
    steps: Vec<(Time, Duration)>,
    last: Option<Time>,
}

impl Limited {
    /// At most the rate of each step from its instant on.
    pub fn new(steps: &[(Time, Option<CellRate>)]) -> Limited {
        let spacing = |limit: Option<CellRate>| limit.map_or(Duration::ZERO, CellRate::interval);
        Limited { steps: steps.iter().map(|&(start, limit)| (start, spacing(limit))).collect(), last: None }
    }

    /// The first instant, not before `from`, at which there is data.
    pub fn available_from(&self, from: Time) -> Time {
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

    /// A cell leaves at `now`.
    pub fn take(&mut self, now: Time) {
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_the_spacing_of_the_step_they_leave_in() {
        let (slow, fast) = (CellRate::new(1e9), CellRate::new(1e11));
        let steps =
            [(Time::ZERO, Some(slow)), (Time::from_ps(10_000), Some(fast)), (Time::from_ps(20_000), None)];
        let mut limited = Limited::new(&steps);
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
        let steps = [(Time::ZERO, Some(CellRate::ZERO)), (Time::from_ps(500), None)];
        assert_eq!(Limited::new(&steps).available_from(Time::ZERO), Time::from_ps(500));
    }
}
