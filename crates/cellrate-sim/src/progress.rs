//! How far a run has come.

/// How far a run has come; given to the caller now and then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Share of the network time done [0 to 1].
    pub fraction: f64,
}
