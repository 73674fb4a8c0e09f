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
    let definition = match definition {
        "CBR.1" => Definition::Cbr1,
        "VBR.1" => Definition::Vbr1,
        "VBR.2" => Definition::Vbr2,
        "VBR.3" => Definition::Vbr3,
        "UBR.1" => Definition::Ubr1,
        "UBR.2" => Definition::Ubr2,
        other => {
            let allowed = "CBR.1, VBR.1, VBR.2, VBR.3, UBR.1 or UBR.2";
            return Err(parameter_error(
                py,
                &format!("the conformance definition is \"{other}\"; it may be {allowed}"),
            ));
        }
    };
    let coupling = match coupling {
        "coupled" => Coupling::Coupled,
        "independent" => Coupling::Independent,
        "serial" => Coupling::Serial,
        other => {
            let allowed = "coupled, independent or serial";
            return Err(parameter_error(
                py,
                &format!("the coupling of the buckets is \"{other}\"; it may be {allowed}"),
            ));
        }
    };
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
