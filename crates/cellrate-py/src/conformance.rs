//! `conformance`: arrivals held against a contract.

use cellrate_proto::policing::contract::{Contract, Coupling, Definition, Policer, Verdict};
use cellrate_proto::{CellRate, Duration, Time};
use pyo3::prelude::*;

use crate::error::parameter_error;
use crate::interruptible::interrupted;

/// Rows between two looks for signals.
const LOOK_EVERY: usize = 1 << 16;

/// Cells of arrivals that a policer passes, tags and discards, and the first arrival with a cell that does not pass.
///
/// Each arrival has its instant in ns, in order; CLP; and cells, all at that instant. Rates in cells/s, `cdvt` in
/// seconds; `scr` and `mbs` count for VBR only.
#[pyfunction]
#[pyo3(signature = (times_ns, clp, cells, definition, pcr, cdvt, scr, mbs, coupling))]
#[expect(clippy::too_many_arguments, reason = "one per parameter of a contract")]
pub fn conformance(
    py: Python<'_>,
    times_ns: Vec<u64>,
    clp: Vec<bool>,
    cells: Vec<u64>,
    definition: &str,
    pcr: f64,
    cdvt: f64,
    scr: f64,
    mbs: u64,
    coupling: &str,
) -> PyResult<(u64, u64, u64, Option<usize>)> {
    let definition = Definition::named(definition).ok_or_else(|| {
        let allowed = one_of(Definition::WORDS);
        let message = format!("the conformance definition is \"{definition}\"; it may be {allowed}");
        parameter_error(py, &message)
    })?;
    let coupling = Coupling::named(coupling).ok_or_else(|| {
        let allowed = one_of(Coupling::WORDS);
        parameter_error(py, &format!("the coupling of the buckets is \"{coupling}\"; it may be {allowed}"))
    })?;
    let contract = Contract {
        definition,
        pcr: CellRate::new(pcr),
        cdvt: Duration::from_secs_f64(cdvt),
        scr: CellRate::new(scr),
        mbs,
        coupling,
    };
    contract.check().map_err(|error| parameter_error(py, &error.to_string()))?;
    let mut policer = Policer::new(&contract);
    let instant = |ns: u64| {
        let since = Duration::checked_from_ns(ns).and_then(|since| Time::ZERO.checked_add(since));
        since.ok_or_else(|| {
            let s = ns as f64 / 1e9;
            parameter_error(
                py,
                &format!(
                    "a cell comes {s:.1} s after the first; a contract is held for 213 days, 18446744 s, at most"
                ),
            )
        })
    };
    let (mut passed, mut tagged, mut discarded, mut first) = (0_u64, 0_u64, 0_u64, None);
    for (row, ((ns, clp), cells)) in times_ns.into_iter().zip(clp).zip(cells).enumerate() {
        if row % LOOK_EVERY == 0 {
            py.check_signals().map_err(|error| interrupted(py, error))?;
        }
        policer.on_cells(instant(ns)?, clp, cells, |verdict, alike| {
            *match verdict {
                Verdict::Pass => &mut passed,
                Verdict::Tag => &mut tagged,
                Verdict::Discard => &mut discarded,
            } += alike;
            if verdict != Verdict::Pass {
                first.get_or_insert(row);
            }
        });
    }
    Ok((passed, tagged, discarded, first))
}

/// "a, b or c" of these words.
fn one_of(words: &[&str]) -> String {
    let Some((last, others)) = words.split_last() else { return String::new() };
    format!("{} or {last}", others.join(", "))
}
