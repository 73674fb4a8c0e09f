//! Use-it-or-lose-it policies (source rule 13; paper 004): what a source does about rate it was given and does not use.
//!
//! The source calls its policy when it is about to send an FRM, after rules 5 and 6, and when a BRM arrives.

use crate::units::{CellRate, Duration};

/// Which policy a source follows, with its parameters.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum UiliConfig {
    /// None beyond rule 5's time-out (default).
    #[default]
    None,
}

/// What a policy may know when an FRM is about to leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrmContext {
    /// ACR, after rules 5 and 6 [cells/s].
    pub acr: CellRate,
    /// ICR in force [cells/s].
    pub icr: CellRate,
    /// In-rate cells since the last FRM, that FRM included [cells].
    pub cells: u32,
    /// Time since the last FRM.
    pub elapsed: Duration,
}
