//! The source end system (TM 4.0, 5.10.4).

/// Placeholder.
#[derive(Clone, Debug)]
pub struct Source {}
