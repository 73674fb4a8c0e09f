//! The text of a scenario: the tree that it is ([`tree`]), its numbers with units ([`quantity`]) and its times
//! ([`reading`]), held against the table of the format ([`check`]), names with numbers in them ([`pattern`]), files
//! that it refers to taken in ([`trace`], [`flows`]), and what is wrong with it, and where ([`error`]).

pub(crate) mod check;
pub(crate) mod columns;
pub(crate) mod error;
pub(crate) mod files;
pub(crate) mod flows;
pub(crate) mod pattern;
pub(crate) mod quantity;
pub(crate) mod reading;
pub(crate) mod trace;
pub(crate) mod tree;
