//! Contents of a resource management cell. Its 53 octets are in [`crate::wire`].

use crate::rate_code::RateCode;

/// Which way an RM cell travels: the DIR bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Direction {
    /// From the source of the direction it controls (DIR = 0).
    Forward,
    /// Back to that source (DIR = 1).
    Backward,
}

/// The contents of an ABR RM cell (TM 4.0, table 5-4); RA, QL and SN belong to I.371 and are always zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct RmCell {
    /// DIR: forward or backward.
    pub direction: Direction,
    /// BN: in a backward cell, that a switch or the destination originated it (BECN).
    pub backward_notification: bool,
    /// CI: the source must decrease by RDF (rule 8).
    pub congestion_indication: bool,
    /// NI: the source must not increase (rule 8).
    pub no_increase: bool,
    /// ER: the rate that the network still allows [cells/s, coded]. Only ever lowered on its way.
    pub explicit_rate: RateCode,
    /// CCR: the source's ACR when the forward cell left [cells/s, coded].
    pub current_cell_rate: RateCode,
    /// MCR of the connection [cells/s, coded].
    pub minimum_cell_rate: RateCode,
    /// CLP = 1: sent out of rate, within TCR (rule 11).
    pub out_of_rate: bool,
}
