//! `cellrate._native`: the Rust crates as Python sees them. Nothing is decided here: arguments are handed on, results
//! handed back, errors mapped in one place (`error`).

mod algorithms;
mod capture;
mod conformance;
mod cost;
mod error;
mod explain;
mod hosts;
mod interruptible;
#[cfg(live)]
mod live;
#[cfg(live)]
mod live_hosts;
#[cfg(live)]
mod live_network;
mod making;
mod management;
mod plugins;
mod policies;
mod rows;
mod run_result;
mod scenario;
mod signalling;
mod traffic;
#[cfg(not(live))]
mod without_live;

#[cfg(target_os = "linux")]
use mimalloc::MiMalloc;
use pyo3::prelude::*;

/// Large networks take and give back many small lists on every window, which it does with fewer misses.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Everything that Python may import from here.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::conformance::conformance;
    #[pymodule_export]
    use crate::cost::{algorithm_cost, built_in_algorithms};
    #[pymodule_export]
    use crate::explain::explain;
    #[pymodule_export]
    use crate::hosts::{applications, nodes};
    #[cfg(live)]
    #[pymodule_export]
    use crate::live::{check_plugins, live_nodes, live_series, live_throughput};
    #[cfg(live)]
    #[pymodule_export]
    use crate::live_hosts::{Host, make_hosts};
    #[cfg(live)]
    #[pymodule_export]
    use crate::live_network::LiveNetwork;
    #[pymodule_export]
    use crate::management::management_cell;
    #[pymodule_export]
    use crate::rows::{Column, Table, document_toml, quantity, tables, to_toml, units};
    #[pymodule_export]
    use crate::run_result::{RunResult, run, run_watched};
    #[pymodule_export]
    use crate::scenario::{Scenario, schema};
    #[pymodule_export]
    use crate::signalling::{abr_parameters, anticipated_rate, largest_exposure, largest_factors, signalled};
    #[cfg(not(live))]
    #[pymodule_export]
    use crate::without_live::{
        Host, LiveNetwork, check_plugins, live_nodes, live_series, live_throughput, make_hosts,
    };

    use super::*;

    /// The version of the crates, the same as that of the Python package.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
