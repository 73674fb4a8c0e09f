//! Traffic written in Python: `cellrate.traffic` says what it is, here it is asked.

use cellrate_engine::plugins::SendingEnd;
use cellrate_engine::traffic::{Burst, TrafficSource};
use cellrate_proto::{CellRate, Cells, Duration, Time};
use cellrate_scenario::Custom;
use pyo3::prelude::*;

use crate::making::{Failure, made_for_end};

/// Traffic of one direction.
struct PythonTraffic {
    /// Says the next burst; `None` if making it raised.
    next: Option<Py<PyAny>>,
    failure: Failure,
    /// The direction of the connection, as results call it.
    vc: String,
}

/// Traffic that `maker` makes for an end, or traffic without a cell if making it raises.
pub fn make(
    maker: &Py<PyAny>,
    failure: &Failure,
    custom: &Custom,
    end: SendingEnd<'_>,
) -> Box<dyn TrafficSource + Send> {
    let next = failure.attempt(|py| made_for_end(py, maker, custom, end).map(Bound::unbind));
    Box::new(PythonTraffic { next, failure: failure.clone(), vc: end.name.to_owned() })
}

impl TrafficSource for PythonTraffic {
    fn next(&mut self, now: Time, acr: CellRate, queue: Cells) -> Option<Burst> {
        let call = self.next.as_ref()?;
        let told = (now.as_secs_f64(), acr.as_cells_per_s(), queue.0);
        // When, how many cells, and their rate [cells/s] if they do not come at once.
        let said = self.failure.attempt_at(
            now,
            || format!("the traffic of {}", self.vc),
            |py| call.call1(py, told)?.extract::<Option<(f64, u32, Option<f64>)>>(py),
        );
        let (at, cells, rate) = said.flatten()?;
        Some(Burst {
            at: Time::ZERO.saturating_add(Duration::from_secs_f64(at)),
            cells,
            spacing: rate.map_or(Duration::ZERO, |rate| CellRate::new(rate).interval()),
        })
    }
}
