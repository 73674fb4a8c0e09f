//! Where things of a scenario are in the network at work.

/// A thing of the scenario, where it lives: its cluster and its index there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub cluster: u32,
    pub index: u32,
}
