//! A capture of a run: the tap of the simulator, plugged into the files of `cellrate-capture`.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use cellrate_capture::{CaptureError, CaptureOptions, CapturedFile, CapturedPort};
use cellrate_proto::{Duration, Time};
use cellrate_scenario::Scenario;
use cellrate_sim::tap::{self, Tap, TappedCell};
use pyo3::prelude::*;

use crate::error::{capture_error, parameter_error};

/// Folder, ports by name, beginning and end of the span \[s\], whether cells, whether PDUs, most octets of a file.
pub type CaptureSettings = (PathBuf, Option<Vec<String>>, f64, Option<f64>, bool, bool, Option<u64>);

/// A capture on its way.
pub struct Capture {
    pub tap: Tap,
    pub files: cellrate_capture::Capture,
    /// Why it ended the run.
    pub error: Option<CaptureError>,
}

impl Capture {
    /// Opens the files.
    ///
    /// Instant 0 of the run is `origin_ns` [ns since 1970]; `hosts` are the names of hosts by address.
    pub fn begin(
        py: Python<'_>,
        scenario: &Scenario,
        settings: CaptureSettings,
        origin_ns: u64,
        hosts: Vec<(Ipv4Addr, String)>,
    ) -> PyResult<Capture> {
        let (folder, names, from, until, cells, pdus, file_octets) = settings;
        let at = |seconds: f64| Time::ZERO + Duration::from_secs_f64(seconds);
        let ports = match names {
            None => tap::ports(scenario),
            Some(names) => {
                tap::ports_named(scenario, &names).map_err(|error| parameter_error(py, &error.to_string()))?
            }
        };
        tap::check(scenario, &ports).map_err(|error| parameter_error(py, &error.to_string()))?;
        let options = CaptureOptions {
            cells,
            pdus,
            from: at(from),
            until: until.map_or(Time::NEVER, at),
            file_octets,
            origin_ns,
            comment: tap::legend(scenario),
            hosts,
        };
        let until = options.until;
        let described = ports.iter().map(|&step| CapturedPort {
            name: tap::name(scenario, step),
            bits_per_s: Some(scenario.link(step.link).rate.as_bps()),
        });
        let files = cellrate_capture::Capture::new(&folder, &described.collect::<Vec<_>>(), options)
            .map_err(|error| capture_error(py, &error))?;
        Ok(Capture { tap: Tap { ports, until }, files, error: None })
    }
}

/// Ends the capture of a run, if there is one: its files beside the outcome. A capture that could not go on ended the
/// run, and is what is raised.
pub fn end<T>(
    py: Python<'_>,
    capture: Option<Capture>,
    outcome: impl FnOnce() -> PyResult<T>,
) -> PyResult<(T, Vec<CapturedFile>)> {
    let capture = match capture {
        Some(Capture { error: Some(error), .. }) => return Err(capture_error(py, &error)),
        other => other,
    };
    let outcome = outcome()?;
    let done = capture.map(|capture| capture.files.finish()).transpose();
    let done = done.map_err(|error| capture_error(py, &error))?;
    Ok((outcome, done.map_or(Vec::new(), |done| done.files)))
}

/// Writes one cell.
pub fn write(files: &mut cellrate_capture::Capture, cell: TappedCell<'_>) -> Result<(), CaptureError> {
    let TappedCell { port, at, octets, has_pdu, lost } = cell;
    let comment = lost.then_some("lost on the line");
    if has_pdu {
        files.cell(port, at, octets, comment)
    } else {
        let [a, b, c, d, _hec, payload @ ..] = octets;
        files.cell_without_aal(port, at, [*a, *b, *c, *d], payload, comment)
    }
}
