//! Hosts that [several sources share](crate::kernel::sources::shared_host), and where they stand before ports.

use cellrate_engine::tournament::Tournament;

/// A host that several sources share.
#[derive(Debug, Default)]
pub(crate) struct SharedHost {
    /// The lanes behind its port.
    pub(in crate::kernel) lanes: Box<[u32]>,
    /// The ports of the switch that its cells go on by, each with the host's place among those [before](HostsBefore)
    /// it.
    pub(in crate::kernel) next: Box<[(u32, u32)]>,
}

/// The shared hosts before a port of a switch.
#[derive(Debug)]
pub(crate) struct HostsBefore {
    /// Their ports.
    pub(in crate::kernel) hosts: Box<[u32]>,
    /// For each place, the instant at which the next cell gets to the port of the switch, or earlier, as a key of the
    /// schedule.
    pub(in crate::kernel) due: Tournament,
}
