//! The keys of hosts: their names, their clocks, and what they are in a live run.

use cellrate_proto::declaration::{Key, Kind, Shape, joined, key, total, without};

use super::{COUNT, LIKE, NAME};
use crate::clocks::OwnClock;
use crate::model::HostSettings;

const LIVE_KEY: Key = key(
    "live",
    Kind::Table(&HostSettings::SHAPE),
    "defaults.host.live",
    "The host as a machine with an IP stack, in `cellrate live run`; the simulator, which has no IP, ignores it.",
);

pub(super) const HOST: Shape = Shape {
    name: "host",
    about: "A host.",
    keys: {
        const PARTS: &[&[Key]] = &[&[NAME], OwnClock::KEYS, &[LIVE_KEY, COUNT, LIKE]];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};
pub(super) const HOST_DEFAULTS: Shape = Shape {
    name: "host_defaults",
    about: "Defaults of hosts.",
    keys: {
        const OWN: &[&str] = &["name", "count", "like"];
        &without::<{ HOST.keys.len() - OWN.len() }>(HOST.keys, OWN)
    },
};
