//! Records of a run while it goes on: series that the scenario asked for, and delays.

pub(crate) use cellrate_engine::histogram;
pub(crate) mod recorder;
pub(crate) mod sampler;
