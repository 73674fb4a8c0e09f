//! The keys of use-it-or-lose-it policies: those that are built in declare their own.

use cellrate_proto::declaration::{Shape, Tagged, joined, total};
use cellrate_proto::uili::SHAPES;

use super::{by_name, names};
use crate::plugin::{NAME_KEY, PARAMETERS_KEY};

const NONE: (&str, Shape) = ("none", Shape { name: "none", about: "Nothing beyond rule 5.", keys: &[] });

const CUSTOM: (&str, Shape) = (
    "custom",
    Shape {
        name: "custom",
        about: "A policy that is not built in and is given to the run by its name (docs/guides/sources.md).",
        keys: &[NAME_KEY, PARAMETERS_KEY],
    },
);

/// Policies as they declare themselves, by their `type`.
const BUILT_IN: [(&str, Shape); SHAPES.len()] = by_name(SHAPES);

/// The types of [`UILI`] but for "custom": a policy with its defaults may be named alone.
pub(super) const UILI_POLICIES: &[&str] = {
    const PARTS: &[&[&str]] = &[&[NONE.0], &names::<{ SHAPES.len() }>(SHAPES)];
    &joined::<_, { total(PARTS) }>(PARTS)
};

pub(super) const UILI: Tagged = Tagged {
    name: "uili",
    default: None,
    variants: {
        const PARTS: &[&[(&str, Shape)]] = &[&[NONE], &BUILT_IN, &[CUSTOM]];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};
