//! The mechanisms that save the kernel work, by name. Each can be switched off: the result is the same, and only what a
//! run costs differs. Tests do so to find the one that is to blame for a difference, and to see what each saves.

/// A mechanism of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Nodes with short links between them, and no others, share a schedule; clusters run windows by themselves.
    Clusters,
    /// Ports that are not looked at deal with cells late.
    Deferral,
    /// Ports at which no cell can wait keep no real queue for marks or discards that never come.
    WithoutQueue,
    /// Ports without ABR connections measure nothing for a built-in algorithm whose figures are not looked at.
    Unmetered,
    /// Ports of several categories that are not looked at keep only those cells that may be overtaken.
    RankedPorts,
    /// Sources with a link to themselves send trains.
    Folding,
    /// Sources that share a host's port send trains.
    SharedHosts,
    /// Sources without feedback send long before anybody looks.
    Ahead,
    /// Data cells that leave for another cluster join a FIFO, or real queues, many at a time.
    BeforeCluster,
    /// Data cells that leave for another cluster by priority are dealt with many at a time.
    Ranked,
    /// Ports from switch to switch within a cluster deal with cells late, where those behind them do.
    Onward,
    /// Data cells before a host are dealt with many at a time, and FRMs and ends of PDUs are events behind the port
    /// only.
    BeforeHost,
    /// Sources of one rate have whole rounds dealt with at once.
    InTurn,
    /// Cells of very many sources are sorted.
    Sorted,
    /// Cells that follow each other evenly are one entry of a list between clusters.
    Stretches,
    /// Cells between clusters of a large network are packed.
    Packing,
    /// Memory that a cluster of a large network works on is read through first.
    Prefetch,
    /// A cluster runs several windows before clusters elsewhere begin with theirs.
    WindowRounds,
    /// The keys of a few ways in to a port stand in order.
    Few,
    /// Answers to BRMs that depend on nothing that waits are given without looking.
    SettledAnswers,
    /// BRMs are answered when they reach a switch, though the port to another cluster that they leave by is looked at
    /// later.
    EarlyAnswers,
    /// The last cell of a request or response that cannot be lost bears a mark, and the others are no events where they
    /// arrive.
    AnnouncedBursts,
}

impl Mechanism {
    /// All there are.
    pub const ALL: [Mechanism; 22] = [
        Mechanism::Clusters,
        Mechanism::Deferral,
        Mechanism::WithoutQueue,
        Mechanism::Unmetered,
        Mechanism::RankedPorts,
        Mechanism::Folding,
        Mechanism::SharedHosts,
        Mechanism::Ahead,
        Mechanism::BeforeCluster,
        Mechanism::Ranked,
        Mechanism::Onward,
        Mechanism::BeforeHost,
        Mechanism::InTurn,
        Mechanism::Sorted,
        Mechanism::Stretches,
        Mechanism::Packing,
        Mechanism::Prefetch,
        Mechanism::WindowRounds,
        Mechanism::Few,
        Mechanism::SettledAnswers,
        Mechanism::EarlyAnswers,
        Mechanism::AnnouncedBursts,
    ];

    /// The name, as a test prints it.
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The mechanisms in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mechanisms {
    off: u32,
}

impl Mechanisms {
    /// All but this one of those in use so far.
    pub const fn without(self, mechanism: Mechanism) -> Mechanisms {
        Mechanisms { off: self.off | mechanism.bit() }
    }

    /// Whether this one is in use.
    #[inline]
    pub const fn has(self, mechanism: Mechanism) -> bool {
        self.off & mechanism.bit() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mechanism_has_a_switch_of_its_own() {
        for one in Mechanism::ALL {
            let others = Mechanisms::default().without(one);
            assert!(
                Mechanism::ALL.iter().all(|&other| others.has(other) == (other != one)),
                "{}",
                one.name()
            );
        }
    }
}
