//! Use-it-or-lose-it policies written in Python: `cellrate.policies` says what they are, here they are called.

use cellrate_engine::plugins::SendingEnd;
use cellrate_proto::CellRate;
use cellrate_proto::uili::{BackwardRmContext, ForwardRmContext, UiliPolicy};
use cellrate_scenario::Custom;
use pyo3::prelude::*;

use crate::making::{Failure, made_for_end};

/// `cellrate.policies.Calls`: `None` where there is nothing to call.
#[derive(Default, FromPyObject)]
struct Calls {
    on_forward_rm: Option<Py<PyAny>>,
    on_backward_rm: Option<Py<PyAny>>,
}

/// One of them at one source.
struct PythonPolicy {
    calls: Calls,
    failure: Failure,
    /// The direction of the connection, as results call it.
    vc: String,
}

/// The one that `maker` makes for a source, or one that does nothing if making it raises.
pub fn make(
    maker: &Py<PyAny>,
    failure: &Failure,
    custom: &Custom,
    end: SendingEnd<'_>,
) -> Box<dyn UiliPolicy + Send> {
    let calls = failure.attempt(|py| made_for_end(py, maker, custom, end)?.extract::<Calls>());
    let calls = calls.unwrap_or_default();
    Box::new(PythonPolicy { calls, failure: failure.clone(), vc: end.name.to_owned() })
}

impl UiliPolicy for PythonPolicy {
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        let Some(call) = &self.calls.on_forward_rm else { return context.acr };
        let &ForwardRmContext { now, acr, decreased, icr, cells, elapsed } = context;
        let [acr_cells, icr] = [acr, icr].map(CellRate::as_cells_per_s);
        let told = (now.as_secs_f64(), acr_cells, decreased, icr, cells, elapsed.as_secs_f64());
        let place = || format!("the policy of {}", self.vc);
        let lowered =
            self.failure.attempt_at(now, place, |py| call.call1(py, told)?.extract::<Option<f64>>(py));
        lowered.flatten().map_or(acr, CellRate::new)
    }

    fn on_backward_rm(&mut self, context: &BackwardRmContext) -> bool {
        let Some(call) = &self.calls.on_backward_rm else { return true };
        let &BackwardRmContext { now, acr, er, increase } = context;
        let told = (now.as_secs_f64(), acr.as_cells_per_s(), er.as_cells_per_s(), increase);
        let place = || format!("the policy of {}", self.vc);
        self.failure.attempt_at(now, place, |py| call.call1(py, told)?.extract::<bool>(py)).unwrap_or(true)
    }
}
