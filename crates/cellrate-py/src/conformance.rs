//! `conformance`: arrivals held against a contract.

use cellrate_proto::policing::contract::{Contract, Coupling, Definition, Policer, Verdict};
use cellrate_proto::{CellRate, Duration, Time};
use pyo3::prelude::*;

use crate::error::parameter_error;

/// The verdict on each cell: 0 conforms, 1 is tagged, 2 is discarded. Instants in ns, in order; rates in cells/s,
/// `cdvt` in seconds; `scr` and `mbs` count for VBR only.
#[pyfunction]
#[pyo3(signature = (times_ns, clp, definition, pcr, cdvt, scr, mbs, coupling))]
#[expect(clippy::too_many_arguments, reason = "one per parameter of a contract")]
pub fn conformance(
    py: Python<'_>,
    times_ns: Vec<u64>,
    clp: Vec<bool>,
    definition: &str,
    pcr: f64,
    cdvt: f64,
    scr: f64,
    mbs: u64,
    coupling: &str,
) -> PyResult<Vec<u8>> {
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
    let mut verdict = |at, clp| match policer.on_cell(at, clp) {
        Verdict::Pass => 0,
        Verdict::Tag => 1,
        Verdict::Discard => 2,
    };
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
    times_ns.into_iter().zip(clp).map(|(ns, clp)| Ok(verdict(instant(ns)?, clp))).collect()
}

/// "a, b or c" of these words.
fn one_of(words: &[&str]) -> String {
    let Some((last, others)) = words.split_last() else { return String::new() };
    format!("{} or {last}", others.join(", "))
}
