//! Where the control loops of a connection are segmented.

use crate::model::{Category, Connection, Link, NodeIndex, Scenario, VsVd};

/// A switch that segments the control loops of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segmenting {
    /// The switch.
    pub switch: NodeIndex,
    /// The hop, from 1 on, that the forward direction leaves it by.
    pub hop: usize,
    /// How the loops of the forward direction are coupled, and those of the backward one.
    pub vs_vd: [VsVd; 2],
}

impl Scenario {
    /// The switches that segment the control loops of `connection`, along its path: those where one of its two
    /// directions leaves by a port that says so. A port that says nothing follows the other one.
    pub fn segmenting(&self, connection: &Connection) -> impl Iterator<Item = Segmenting> {
        segmenting(&self.links, connection)
    }
}

/// The switches that segment the control loops of `connection` over these links, along its path.
pub(crate) fn segmenting(links: &[Link], connection: &Connection) -> impl Iterator<Item = Segmenting> {
    let path = if connection.category == Category::Abr { &connection.path[..] } else { &[] };
    let pairs = path.iter().zip(path.iter().skip(1)).zip(1..);
    pairs.filter_map(|((before, step), hop)| {
        let [back, out] = [before.turned(), *step].map(|step| {
            let (link, end) = (&links[step.link.0 as usize], usize::from(step.end));
            (link.ends[end], link.ports[end].vs_vd)
        });
        let vs_vd = [out.1.or(back.1)?, back.1.or(out.1)?];
        Some(Segmenting { switch: out.0, hop, vs_vd })
    })
}
