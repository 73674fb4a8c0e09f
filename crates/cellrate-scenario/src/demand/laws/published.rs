//! Published tables of the sizes of flows in data centres.

use cellrate_proto::declaration::Shape;

use super::{Declared, Law};
use crate::demand::columns::PACKET;

pub(super) const WEB_SEARCH: Declared = Declared {
    kind: "web-search",
    shape: Shape {
        name: "web_search",
        about: "Flows of a web search cluster (DCTCP, SIGCOMM 2010), as in the tables of the HPCC simulator.",
        keys: &[],
    },
    read: |_, _| Ok(scaled(WEB_SEARCH_POINTS, 1.0)),
    file: None,
};

pub(super) const DATA_MINING: Declared = Declared {
    kind: "data-mining",
    shape: Shape {
        name: "data_mining",
        about: "Flows of a data mining cluster (VL2, SIGCOMM 2009), as in the tables of the HKUST traffic generator, a packet as 1500 octets.",
        keys: &[],
    },
    read: |_, _| Ok(scaled(DATA_MINING_POINTS, PACKET)),
    file: None,
};

pub(super) const CACHE_FOLLOWER: Declared = Declared {
    kind: "cache-follower",
    shape: Shape {
        name: "cache_follower",
        about: "Flows of cache followers (Facebook, SIGCOMM 2015), as in the tables of the HKUST traffic generator, a packet as 1500 octets.",
        keys: &[],
    },
    read: |_, _| Ok(scaled(CACHE_FOLLOWER_POINTS, PACKET)),
    file: None,
};

pub(super) const HADOOP: Declared = Declared {
    kind: "hadoop",
    shape: Shape {
        name: "hadoop",
        about: "Flows of a Hadoop cluster (Facebook, SIGCOMM 2015), as in the tables of the HPCC simulator.",
        keys: &[],
    },
    read: |_, _| Ok(scaled(HADOOP_POINTS, 1.0)),
    file: None,
};

/// Straight lines between these points, whose sizes are in units of so many octets.
fn scaled(points: &[(f64, f64)], unit: f64) -> Law {
    Law::Table(points.iter().map(|&(size, share)| (size * unit, share)).collect())
}

/// Points of the HPCC simulator's table of the DCTCP web search flows \[octets\].
const WEB_SEARCH_POINTS: &[(f64, f64)] = &[
    (0.0, 0.0),
    (10e3, 0.15),
    (20e3, 0.2),
    (30e3, 0.3),
    (50e3, 0.4),
    (80e3, 0.53),
    (200e3, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (10e6, 0.97),
    (30e6, 1.0),
];
/// Points of the HPCC simulator's table of the Facebook Hadoop flows \[octets\].
const HADOOP_POINTS: &[(f64, f64)] = &[
    (0.0, 0.0),
    (100.0, 0.01),
    (200.0, 0.02),
    (300.0, 0.05),
    (350.0, 0.15),
    (400.0, 0.2),
    (500.0, 0.3),
    (600.0, 0.4),
    (700.0, 0.5),
    (1e3, 0.6),
    (2e3, 0.67),
    (7e3, 0.7),
    (30e3, 0.72),
    (50e3, 0.82),
    (80e3, 0.87),
    (120e3, 0.9),
    (300e3, 0.95),
    (1e6, 0.975),
    (2e6, 0.99),
    (10e6, 1.0),
];
/// Points of the HKUST traffic generator's table of the VL2 data mining flows \[packets\].
const DATA_MINING_POINTS: &[(f64, f64)] = &[
    (1.0, 0.5),
    (2.0, 0.6),
    (3.0, 0.7),
    (7.0, 0.8),
    (267.0, 0.9),
    (2107.0, 0.95),
    (66_667.0, 0.99),
    (666_667.0, 1.0),
];
/// Points of the HKUST traffic generator's table of the Facebook cache follower flows \[packets\].
const CACHE_FOLLOWER_POINTS: &[(f64, f64)] = &[
    (1.0, 0.36),
    (2.0, 0.4),
    (7.0, 0.46),
    (13.0, 0.5),
    (67.0, 0.6),
    (133.0, 0.7),
    (667.0, 0.78),
    (1333.0, 0.8),
    (2000.0, 0.9),
    (2667.0, 0.99),
    (33_333.0, 1.0),
];
