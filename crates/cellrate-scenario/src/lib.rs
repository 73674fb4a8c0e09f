//! Scenarios as data: what a TOML file says, checked and resolved into a [`Scenario`] in which every default is filled
//! in, every group written out and every name replaced by an index. How a scenario is run is not known here.

pub mod model;

pub use model::*;
