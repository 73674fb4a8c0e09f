//! The rules of TM 4.0, one by one: each test carries the number of the rule it holds.
//!
//! `docs/rules.md` lists rule, code and tests; [`table`] keeps that list true.

mod destination;
mod in_band;
mod parameters;
mod properties;
mod source;
mod switch;
mod table;
mod world;
