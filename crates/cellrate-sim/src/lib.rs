//! A simulator of ATM networks at the level of the single cell.

pub mod results;

pub use results::{FlowSummary, PortSummary, Progress, RunError, RunResult, RunSummary, Series, Summary};
