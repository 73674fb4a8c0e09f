//! Scenarios as data: what a TOML file says, checked and resolved into a [`Scenario`] in which every default is filled
//! in, every group written out and every name replaced by an index. How a scenario is run is not known here.
//!
//! [`Document`] is the file as it was written, with overrides; [`Document::resolve`] gives the scenario. Whatever is
//! wrong becomes a [`ScenarioError`] with file, line, column and key. No input makes this crate panic.

mod clocks;
mod consolidation;
mod courses;
#[cfg(test)]
mod default_tests;
mod demand;
mod document;
pub mod fair;
mod format;
mod keys;
mod model;
pub mod phases;
mod plugin;
mod programs;
mod reference;
mod resolve;
mod schema;
pub mod stability;
mod text;
pub mod traffic;
mod values;
pub mod writing;

pub use document::{Document, SweepPoint};
pub use model::*;
pub use reference::{Reference, reference};
pub use resolve::least_interval;
pub use schema::schema;
pub use text::error::ScenarioError;
pub use text::quantity::{quantity, units};
