//! The keys of trees: branches of a connection, and how branch points consolidate.

use cellrate_proto::declaration::{Key, Kind, key};

use crate::consolidation::CONSOLIDATION;

pub(super) const BRANCHES_KEY: Key = key(
    "branches",
    Kind::List(&Kind::List(&Kind::Reference, 2), 1),
    "none",
    "Ways to further leaves, which make the connection a tree (docs/guides/trees.md): each from a switch that the path or a way before it passes, where cells are copied, to a host of its own. \"vc1 to d2\" in results and probes is the way to d2.",
);

pub(super) const CONSOLIDATION_KEY: Key = key(
    "consolidation",
    Kind::Tagged(&CONSOLIDATION),
    "{ type = \"ratio-control\" }",
    "Feedback consolidation of ABR trees that branch at this switch: which BRM goes up, and when (docs/guides/trees.md).",
);
