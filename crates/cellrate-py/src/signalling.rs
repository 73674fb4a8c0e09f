//! Parameters of the standard: their defaults and values, and the codes of a set of them.

use cellrate_proto::declaration::Key;
use cellrate_proto::negotiation::rules;
use cellrate_proto::parameters::PowerOfTwo;
use cellrate_proto::signalling::Signalled;
use cellrate_proto::{AbrParameters, CellRate, Cells, Duration};
use pyo3::prelude::*;

use crate::error::parameter_error;

/// Values that signalling carries for these parameters, by symbol, and the record of the optional ones. Rates in
/// cells/s, times in seconds, CDF 0 where rule 6 is disabled.
#[pyfunction]
#[pyo3(signature = (pcr, mcr, icr, nrm, trm, rif, rdf, adtf, tbe, cdf, frtt))]
#[expect(clippy::too_many_arguments, reason = "one per parameter of the standard")]
pub fn signalled(
    py: Python<'_>,
    pcr: f64,
    mcr: f64,
    icr: f64,
    nrm: u32,
    trm: f64,
    rif: f64,
    rdf: f64,
    adtf: f64,
    tbe: u64,
    cdf: f64,
    frtt: f64,
) -> PyResult<Vec<(&'static str, u32)>> {
    let power = |name: &'static str, factor: f64| {
        PowerOfTwo::exact(factor)
            .ok_or_else(|| parameter_error(py, &format!("{name} is {factor}; it must be a power of two")))
    };
    let mut parameters = AbrParameters::new(CellRate::new(pcr));
    parameters.mcr = CellRate::new(mcr);
    parameters.icr = CellRate::new(icr);
    parameters.nrm = nrm;
    parameters.trm = Duration::from_secs_f64(trm);
    parameters.rif = power("rif", rif)?;
    parameters.rdf = power("rdf", rdf)?;
    parameters.adtf = Duration::from_secs_f64(adtf);
    parameters.tbe = Cells(tbe);
    parameters.cdf = if cdf == 0.0 { None } else { Some(power("cdf", cdf)?) };
    parameters.frtt = Duration::from_secs_f64(frtt);
    let code = Signalled::encode(&parameters).map_err(|error| parameter_error(py, &error.to_string()))?;
    let optional = code.additional;
    Ok(vec![
        ("PCR", code.pcr),
        ("MCR", code.mcr),
        ("ICR", code.icr),
        ("TBE", code.tbe),
        ("FRTT", code.frtt),
        ("RIF", code.rif.into()),
        ("RDF", code.rdf.into()),
        ("Nrm", optional.nrm.unwrap_or_default().into()),
        ("Trm", optional.trm.unwrap_or_default().into()),
        ("ADTF", optional.adtf.unwrap_or_default().into()),
        ("CDF", optional.cdf.unwrap_or_default().into()),
        ("record", optional.to_record()),
    ])
}

/// Key, default as it would be written, and all values that signalling carries where there are only so many, of each
/// ABR parameter.
#[pyfunction]
pub fn abr_parameters() -> Vec<(&'static str, &'static str, Option<Vec<String>>)> {
    let row =
        |key: &Key| (key.name, key.default.trim_matches('"'), key.steps.map(|steps| steps.texts().collect()));
    AbrParameters::KEYS.iter().map(row).collect()
}

/// Largest RIF and RDF of a switch without explicit rates, and BRMs in a round trip, by PCR [cells/s], FRTT \[s\] and
/// Nrm: the rules by which negotiation lowers them.
#[pyfunction]
pub fn largest_factors(pcr: f64, frtt: f64, nrm: u32) -> (f64, f64, f64) {
    let (pcr, frtt) = (CellRate::new(pcr), Duration::from_secs_f64(frtt));
    (
        rules::largest_rif(pcr, frtt, nrm).value(),
        rules::largest_rdf(pcr, frtt, nrm).value(),
        rules::steps(pcr, frtt, nrm),
    )
}

/// Largest TBE by PCR [cells/s], FRTT \[s\] and the buffers of the path \[cells\].
#[pyfunction]
pub fn largest_exposure(pcr: f64, frtt: f64, buffers: u64) -> u64 {
    rules::largest_exposure(CellRate::new(pcr), Duration::from_secs_f64(frtt), Cells(buffers)).0
}

/// The rate that one of so many connections can expect of a rate that is left [cells/s].
#[pyfunction]
pub fn anticipated_rate(rate: f64, sharers: u64) -> f64 {
    rules::anticipated_rate(CellRate::new(rate), sharers).as_cells_per_s()
}
