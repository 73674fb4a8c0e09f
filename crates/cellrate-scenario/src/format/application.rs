//! The keys of applications: each program declares its own.

use cellrate_proto::declaration::{Kind, Shape, Tagged, key, required};

use super::{COUNT, LIKE, NAME, by_name, names};
use crate::keys::TIME;
use crate::programs::PROGRAMS;

pub(super) const APPLICATION: Shape = Shape {
    name: "application",
    about: "A program on the hosts of a live run. A scenario with applications is for `cellrate live run` only.",
    keys: &[
        NAME,
        required(
            "kind",
            Kind::Or(&[Kind::Tagged(&KINDS), Kind::Choice(KIND_NAMES)]),
            "Program that runs: a table, or the type alone where nothing in it is required.",
        ),
        required(
            "host",
            Kind::Reference,
            "Host that data comes from: the server of ftp and web, the sender of video, voice, iperf3 and ping; the host on which a command runs.",
        ),
        key(
            "peer",
            Kind::Reference,
            "required, but for a command",
            "Host that data goes to: the client of ftp and web, or the receiver.",
        ),
        key(
            "start",
            TIME,
            "\"0 ms\"",
            "When the program begins; servers are started before the network's time begins.",
        ),
        key("end", TIME, "the end of the run", "When it is stopped, if it has not ended by itself."),
        COUNT,
        LIKE,
    ],
};

/// The types of [`KINDS`]: a program with its defaults may be named alone.
const KIND_NAMES: &[&str] = &names::<{ PROGRAMS.len() }>(PROGRAMS);

const KINDS: Tagged =
    Tagged { name: "kind", default: None, variants: &by_name::<{ PROGRAMS.len() }>(PROGRAMS) };
