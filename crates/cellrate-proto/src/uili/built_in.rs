//! Built-in policies: the declaration of each, and the list of all of them.
//!
//! A policy is a file beside this one. It declares its parameters by `#[derive(Table)]`, implements [`UiliPolicy`],
//! and says in [`BuiltIn`] by which name it is asked for. With its line in the list of `mod.rs` its shape is among
//! [`SHAPES`](super::SHAPES): the format of scenarios, its reference and schema, errors, random networks and the tests
//! that hold all policies follow.

use core::fmt;

use super::UiliPolicy;
use crate::declaration::Shape;
use crate::parameters::AbrParameters;

/// A policy that is built in, as it declares itself.
pub trait BuiltIn: UiliPolicy + fmt::Debug + Send + Sized {
    /// Its parameters, a [`Table`](crate::declaration::Table).
    type Config: Clone + fmt::Debug + PartialEq;

    /// Its `type` in scenarios, a sentence on it, and its keys.
    const SHAPE: Shape;

    /// The policy of a source with `parameters`. Both have been checked.
    fn for_source(config: &Self::Config, parameters: &AbrParameters) -> Self;
}

/// Makes everything that chooses among policies by enum.
macro_rules! policies {
    ($($module:ident::$name:ident($config:ident)),+ $(,)?) => {
        $(pub use $module::*;)+

        /// Which policy a source follows, with its parameters.
        #[derive(Clone, Debug, PartialEq, Default)]
        pub enum UiliConfig {
            /// None beyond rule 5's time-out (default).
            #[default]
            None,
            $(
                #[doc = concat!("[`", stringify!($name), "`] with these parameters.")]
                $name($config),
            )+
        }

        /// Name, meaning and keys of every policy, in the order of the list.
        pub const SHAPES: &[Shape] = &[$(<$name as BuiltIn>::SHAPE),+];

        impl UiliConfig {
            /// The policy of this name with the parameters that `values` describe; `None` if there is no such policy.
            ///
            /// # Errors
            /// A value that cannot be taken.
            pub fn read<V: Values>(name: &str, values: &V) -> Option<Result<UiliConfig, V::Error>> {
                $(if name == <$name as BuiltIn>::SHAPE.name {
                    return Some($config::read(values).map(UiliConfig::$name));
                })+
                None
            }

            /// The policy of this shape with parameters drawn at random: any that it takes. `dice` gives numbers from 0
            /// to below 1, anew each time.
            pub fn drawn(shape: &Shape, dice: &mut dyn FnMut() -> f64) -> UiliConfig {
                for _ in 0..1_000 {
                    let read = UiliConfig::read(shape.name, &Drawn::new(shape.keys, dice));
                    if let Some(Ok(config)) = read && config.check().is_ok() {
                        return config;
                    }
                }
                let read = UiliConfig::read(shape.name, &Drawn::least(shape.keys));
                read.and_then(Result::ok).unwrap_or_default()
            }

            /// Declaration of the policy; `None` where there is none.
            pub fn shape(&self) -> Option<&'static Shape> {
                match self {
                    UiliConfig::None => None,
                    $(UiliConfig::$name(_) => Some(const { &<$name as BuiltIn>::SHAPE }),)+
                }
            }

            /// Says which parameter is out of its range first.
            pub fn check(&self) -> Result<(), ParameterError> {
                match self {
                    UiliConfig::None => Ok(()),
                    $(UiliConfig::$name(config) => config.check(),)+
                }
            }
        }

        /// A policy at work. Boxed, so that a source without one, or with a small one, is not as large as the largest.
        pub enum Uili {
            /// None.
            None,
            $(
                #[doc = concat!("[`struct@", stringify!($name), "`].")]
                $name(Box<$name>),
            )+
            /// One that is not built in.
            Custom(Box<dyn UiliPolicy + Send>),
        }

        impl fmt::Debug for Uili {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Uili::None => f.write_str("None"),
                    $(Uili::$name(policy) => policy.fmt(f),)+
                    Uili::Custom(_) => f.write_str("Custom"),
                }
            }
        }

        impl Uili {
            /// The policy that `config` names, for a source with `parameters`. Both have been checked.
            pub fn new(config: &UiliConfig, parameters: &AbrParameters) -> Uili {
                match config {
                    UiliConfig::None => Uili::None,
                    $(UiliConfig::$name(config) => {
                        Uili::$name(Box::new(<$name as BuiltIn>::for_source(config, parameters)))
                    })+
                }
            }

            #[inline]
            fn policy(&mut self) -> Option<&mut dyn UiliPolicy> {
                match self {
                    Uili::None => None,
                    $(Uili::$name(policy) => Some(&mut **policy),)+
                    Uili::Custom(policy) => Some(&mut **policy),
                }
            }
        }
    };
}
pub(super) use policies;
