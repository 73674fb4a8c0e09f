//! The destination end system (TM 4.0, 5.10.5).

/// Placeholder.
#[derive(Clone, Debug)]
pub struct Destination {}
