//! Ports before deferred ones of the same cluster: those [from switch to switch](crate::kernel::deferred::onward).

/// Ports of a strategy that a deferred port's cells come from: those of
/// [`Onward`](super::drain_strategy::DrainStrategy::Onward), which have to catch up before it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FedBy {
    /// No cells come from such a port.
    #[default]
    None,
    /// All cells come over one lane, from one such port.
    One,
    /// Some cells come from such ports, and others another way.
    Mixed,
}

/// Ports of the strategy [`Onward`](super::drain_strategy::DrainStrategy::Onward) before each port, and how far those
/// before other ports have got. Lists are by port, and empty in a cluster without any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Onward {
    /// Ports before it, whose cells come to the port next.
    pub before: Vec<Vec<u32>>,
    /// The place of the port among all of them, in an order in which each stands behind those that its cells come to.
    pub rank: Vec<u32>,
    /// Up to which key the port has caught up, with all before it.
    pub caught_up: Vec<u64>,
    /// Ports that are to catch up, by rank: a list that is empty between uses and keeps its room.
    pub behind: Vec<(u32, u32)>,
}

impl Onward {
    /// Makes it for a cluster of so many `ports`: those of the strategy in an order in which each stands behind those
    /// that its cells come to, and pairs of one and of a port that it leads to.
    pub fn new(ports: usize, order: &[u32], pairs: &[(u32, u32)]) -> Onward {
        if order.is_empty() {
            return Onward::default();
        }
        let (mut before, mut rank) = (vec![Vec::new(); ports], vec![0; ports]);
        (0..).zip(order).for_each(|(place, &port)| rank[port as usize] = place);
        pairs.iter().for_each(|&(port, next)| before[next as usize].push(port));
        Onward { before, rank, caught_up: vec![0; ports], behind: Vec::new() }
    }

    /// Gives the ports before `port` that have not caught up to `limit`, and those before them: from now on they have.
    /// The first comes last.
    pub fn have_catch_up(&mut self, port: usize, limit: u64) -> Vec<(u32, u32)> {
        let Onward { before, rank, caught_up, behind } = self;
        let mut found = std::mem::take(behind);
        let (mut next, mut port) = (0, port);
        loop {
            for &one in &before[port] {
                let until = &mut caught_up[one as usize];
                if *until < limit {
                    *until = limit;
                    found.push((rank[one as usize], one));
                }
            }
            let Some(&(_, one)) = found.get(next) else { break };
            (port, next) = (one as usize, next + 1);
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_catches_up_once_and_behind_those_before_it() {
        // 0 leads to 1 and 2, both lead to 3, and that to 4, which is another kind.
        let pairs = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)];
        let mut onward = Onward::new(5, &[3, 2, 1, 0], &pairs);
        let mut ports = |port, limit| -> Vec<u32> {
            onward.have_catch_up(port, limit).into_iter().rev().map(|(_, port)| port).collect()
        };
        assert_eq!(ports(3, 10), [0, 1, 2]);
        assert_eq!(ports(4, 10), [3]);
        assert_eq!(ports(4, 10), [0; 0]);
        assert_eq!(ports(4, 11), [0, 1, 2, 3]);
        assert_eq!(ports(2, 5), [0; 0], "it has got further");
    }
}
