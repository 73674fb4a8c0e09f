//! The text of a scenario: the tree that it is ([`tree`]), its numbers with units ([`quantity`]) and its times
//! ([`reading`]), held against the table of the format ([`check`]), names with numbers in them ([`pattern`]), files
//! that it refers to ([`files`]) with their rows and columns ([`columns`]), and what is wrong with it, and where
//! ([`error`]).

pub(crate) mod check;
pub(crate) mod columns;
pub(crate) mod error;
pub(crate) mod files;
mod lines;
pub(crate) mod pattern;
pub(crate) mod quantity;
pub(crate) mod reading;
pub(crate) mod tree;
pub(crate) mod written;
