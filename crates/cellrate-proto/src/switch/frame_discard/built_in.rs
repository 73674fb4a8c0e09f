//! Built-in policies of frame discard: the declaration of each, and the list of all of them.
//!
//! A policy is a file beside this one. It declares its parameters by `#[derive(Table)]` and implements [`BuiltIn`] for
//! them. With its line in the list of `mod.rs` its shape is among [`SHAPES`](super::SHAPES): the format of scenarios,
//! its reference and schema, names in results, random networks and the tests that hold all policies follow. The judge,
//! which says in `cellrate-sim/tests/reference/frame_discard.rs` what each refuses in its own way, does not compile
//! without it.

use core::fmt;

use super::FirstCell;
use crate::declaration::Shape;
use crate::units::Cells;

/// A policy that is built in, as it declares itself: which PDUs are refused whole though there is room for their first
/// cell.
pub trait BuiltIn: Copy + fmt::Debug + PartialEq {
    /// Its `type` in scenarios, a sentence on it, and its keys.
    const SHAPE: Shape;

    /// Its name in results, such as "EPD".
    const TITLE: &'static str;

    /// Whether the cells of each connection in the buffer are counted for it. Default true; one that does not look at
    /// [`own`](FirstCell::own) and [`active`](FirstCell::active) saves the count.
    const COUNTS: bool = true;

    /// Whether its buffer has to be limited. Default false.
    const NEEDS_LIMIT: bool = false;

    /// Its highest threshold, which its buffer has to have room above, and the name of its key; `None` without any.
    fn highest(&self) -> Option<(&'static str, Cells)>;

    /// Whether a PDU with this first cell is refused. `draw` gives a number uniform in [0, 1); it is asked for one
    /// where chance decides.
    fn refuses(&self, first: &FirstCell, draw: impl FnOnce() -> f64) -> bool;
}

/// Makes everything that chooses among policies by enum.
macro_rules! policies {
    ($($module:ident::$name:ident),+ $(,)?) => {
        $(pub use $module::$name;)+

        /// Which PDUs are refused whole.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum FrameDiscardConfig {
            $(
                #[doc = concat!("[`struct@", stringify!($name), "`] with these parameters.")]
                $name($name),
            )+
        }

        /// Name, meaning and keys of every policy, in the order of the list.
        pub const SHAPES: &[Shape] = &[$(<$name as BuiltIn>::SHAPE),+];

        impl FrameDiscardConfig {
            /// The policy of this name with the parameters that `values` describe; `None` if there is no such policy.
            ///
            /// # Errors
            /// A value that cannot be taken.
            pub fn read<V: Values>(name: &str, values: &V) -> Option<Result<FrameDiscardConfig, V::Error>> {
                $(if name == <$name as BuiltIn>::SHAPE.name {
                    return Some($name::read(values).map(FrameDiscardConfig::$name));
                })+
                None
            }

            /// The policy of this shape with parameters drawn at random: any that a buffer with this room takes; `None`
            /// where none was found. `dice` gives numbers from 0 to below 1, anew each time.
            pub fn drawn(
                shape: &Shape,
                room: Option<Cells>,
                dice: &mut dyn FnMut() -> f64,
            ) -> Option<FrameDiscardConfig> {
                (0..1_000).find_map(|_| {
                    let config = FrameDiscardConfig::read(shape.name, &Drawn::new(shape.keys, dice))?.ok()?;
                    config.check(room).is_ok().then_some(config)
                })
            }

            /// Declaration of the policy.
            pub fn shape(&self) -> &'static Shape {
                match self {
                    $(FrameDiscardConfig::$name(_) => const { &<$name as BuiltIn>::SHAPE },)+
                }
            }

            /// Name of the policy in results, such as "EPD".
            pub const fn title(&self) -> &'static str {
                match self {
                    $(FrameDiscardConfig::$name(_) => <$name as BuiltIn>::TITLE,)+
                }
            }

            /// Says which parameter is out of its range first, or has no effect on a buffer with this room: a threshold
            /// that it never has more cells than.
            pub fn check(&self, room: Option<Cells>) -> Result<(), ParameterError> {
                match self {
                    $(FrameDiscardConfig::$name(policy) => {
                        policy.check()?;
                        let Some((key, threshold)) = policy.highest() else { return Ok(()) };
                        let is_below = room.map_or(!<$name as BuiltIn>::NEEDS_LIMIT, |room| threshold < room);
                        let allowed = "less than the room of its buffer, which is limited for fair discard";
                        in_range(key, threshold.0 as f64, "cells", is_below, allowed)
                    })+
                }
            }

            /// Whether the cells of each connection are counted for it.
            #[inline]
            const fn counts(&self) -> bool {
                match self {
                    $(FrameDiscardConfig::$name(_) => <$name as BuiltIn>::COUNTS,)+
                }
            }

            /// Whether a PDU with this first cell is refused.
            #[inline]
            fn refuses(&self, first: &FirstCell, draw: impl FnOnce() -> f64) -> bool {
                match self {
                    $(FrameDiscardConfig::$name(policy) => policy.refuses(first, draw),)+
                }
            }
        }
    };
}
pub(super) use policies;
