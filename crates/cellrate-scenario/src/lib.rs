//! Scenarios as data: what a TOML file says, checked and resolved into a [`Scenario`] in which every default is filled
//! in, every group written out and every name replaced by an index. How a scenario is run is not known here.
//!
//! [`Document`] is the file as it was written, with overrides; [`Document::resolve`] gives the scenario. Whatever is
//! wrong becomes a [`ScenarioError`] with file, line, column and key. No input makes this crate panic.

mod application;
mod check;
mod custom;
mod document;
mod error;
pub mod fair;
mod format;
mod frames;
mod group;
mod host;
mod index;
mod live;
pub mod model;
mod pages;
mod period;
mod quantity;
mod resolve;
mod schema;
mod segmenting;
mod shared;
mod tcp;
mod trace;
mod tree;
mod video;
mod vs_vd;

pub use application::*;
pub use custom::*;
pub use document::{Document, SweepPoint};
pub use error::ScenarioError;
pub use frames::*;
pub use host::*;
pub use index::*;
pub use live::LiveSettings;
pub use model::*;
pub use pages::*;
pub use period::*;
pub use schema::{reference, schema};
pub use segmenting::Segmenting;
pub use shared::Shared;
pub use tcp::*;
pub use video::*;
pub use vs_vd::*;
