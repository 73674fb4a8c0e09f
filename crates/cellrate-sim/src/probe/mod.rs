//! What is recorded while a run goes on: series that the scenario asked for, and delays.

pub(crate) mod histogram;
pub(crate) mod recorder;
pub(crate) mod sampler;
