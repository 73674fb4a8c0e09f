//! The keys of what is not built in.

use cellrate_proto::declaration::{Key, Kind, key, required};

/// By which name a run is given it.
pub(super) const NAME_KEY: Key = required("name", Kind::Name, "The name by which the run is given it.");

/// Parameters that are handed to the plugin.
pub(super) const PARAMETERS_KEY: Key = key(
    "parameters",
    Kind::Map(&Kind::Any),
    "none",
    "Parameters that it is handed, by name: numbers, texts, true or false.",
);
