//! The macros that make a configuration of a declaration.

/// Declares a configuration: a struct whose fields are keys of a scenario.
///
/// ```text
/// configuration! {
///     /// Phantom's parameters.
///     pub struct PhantomConfig new() {
///         /// Averaging interval: its length at most.
///         interval: AveragingInterval = "0.5 ms",
///         /// Weight of the newest interval in the mean.
///         alpha: f64 = "1/128" in Range::SHARE,
///     }
/// }
/// ```
///
/// A field says its type, which fixes the unit; its default as it would be written; its range; and, in its comment,
/// what it means: that sentence is the one in the reference. From these follow the struct, `new` with every default,
/// `KEYS`, `read` and `check`.
///
/// - A field without a default must be given. It is an argument of `new`, which the head names.
/// - `= "4 * threshold" or (expression)`: a default that other fields before it decide, and the phrase for it.
/// - `OptionalRatio`, `OptionalSpan` and `OptionalRate`: `None` where something else decides, which the phrase names.
/// - `in range`: the bounds of a ratio.
/// - `where (condition) "phrase"`: what must hold; the message says that the value must be `phrase`.
/// - `..group: Configuration` at the end: the keys of another configuration.
/// - No field at all: `new() {}`, of what has a name and nothing to set.
/// - `named "prefix_"` before `new`: errors call the fields so, with the prefix.
macro_rules! configuration {
    ($(#[$meta:meta])* $vis:vis struct $name:ident new() {}) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        $vis struct $name {}

        impl $name {
            /// Every key: none.
            pub const KEYS: &'static [$crate::declaration::Key] = &[];

            /// The configuration, which has no values.
            pub const fn new() -> $name {
                $name {}
            }

            /// The configuration, of which `values` describe nothing.
            pub fn read<V: $crate::declaration::Values>(_values: &V) -> Result<$name, V::Error> {
                Ok($name {})
            }

            /// Refuses nothing.
            pub fn check(&self) -> Result<(), $crate::parameters::ParameterError> {
                Ok(())
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident new($($arguments:tt)*) { $($fields:tt)* }) => {
        $crate::declaration::configuration! {
            $(#[$meta])* $vis struct $name named "" new($($arguments)*) { $($fields)* }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident named $prefix:literal new($($argument:ident: $argument_type:ty),*) {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:tt $(= $default:literal)? $(or ($derived:expr))? $(in $range:path)?
                $(where ($holds:expr) $allowed:literal)?
            ),*
            $(, ..$group:ident: $group_type:ident)* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $vis struct $name {
            $(
                $(#[doc = $doc])+
                $(#[doc = ""] #[doc = concat!("Default: ", $default, ".")])?
                pub $field: $type,
            )*
            $(
                #[doc = concat!("[`", stringify!($group_type), "`].")]
                pub $group: $group_type,
            )*
        }

        impl $name {
            /// Every key, in the order of the reference.
            pub const KEYS: &'static [$crate::declaration::Key] = {
                const PARTS: &[&[$crate::declaration::Key]] = &[
                    $($crate::declaration::configuration!(
                        @keys $field $type [$($default)?] [$($derived)?] [$($range)?] concat!($($doc),+)
                    ),)*
                    $(<$group_type>::KEYS,)*
                ];
                &$crate::declaration::joined::<_, { $crate::declaration::total(PARTS) }>(PARTS)
            };

            /// A configuration of the given values, and every default.
            pub const fn new($($argument: $argument_type),*) -> $name {
                $(let $field = $crate::declaration::configuration!(
                    @value $field $type [$($default)?] [$($derived)?]
                );)*
                $name { $($field,)* $($group: <$group_type>::new(),)* }
            }

            /// The configuration that `values` describe.
            pub fn read<V: $crate::declaration::Values>(values: &V) -> Result<$name, V::Error> {
                $(let $field = $crate::declaration::configuration!(
                    @read values $field $type [$($default)?] [$($derived)?] concat!($($doc),+)
                );)*
                Ok($name { $($field,)* $($group: <$group_type>::read(values)?,)* })
            }

            /// Says which parameter is out of its range first, in the order of the fields.
            pub fn check(&self) -> Result<(), $crate::parameters::ParameterError> {
                let $name { $($field,)* $($group,)* } = *self;
                $($crate::declaration::configuration!(
                    @check $field $type [concat!($prefix, stringify!($field))] [$($range)?]
                    [$($holds, $allowed)?]
                );)*
                $($group.check()?;)*
                Ok(())
            }
        }

        $crate::declaration::configuration!(@default $name [$($argument)*]);
    };

    // Keys of a field: name, type, default, derived default, range, sentence.
    (@keys $field:ident AveragingInterval [$default:literal] [] [] $about:expr) => {
        &AveragingInterval::keys(concat!("\"", $default, "\""), str::trim_ascii($about))
    };
    (@keys $field:ident $type:tt [] [] [$($range:path)?] $about:expr) => {
        &[$crate::declaration::required(
            stringify!($field),
            $crate::declaration::configuration!(@kind $type [$($range)?]),
            str::trim_ascii($about),
        )]
    };
    (@keys $field:ident $type:tt [$default:literal] [$($derived:expr)?] [$($range:path)?] $about:expr) => {
        &[$crate::declaration::key(
            stringify!($field),
            $crate::declaration::configuration!(@kind $type [$($range)?]),
            $crate::declaration::configuration!(@shown $type $default [$($derived)?]),
            str::trim_ascii($about),
        )]
    };
    (@kind f64 [$range:path]) => { $crate::declaration::Kind::Ratio($range) };
    (@kind OptionalRatio [$range:path]) => { $crate::declaration::Kind::Ratio($range) };
    (@kind $type:tt []) => { <$type as $crate::declaration::Setting>::KIND };

    // A default as the reference shows it: what needs quotes in a file has them.
    (@shown $type:tt $default:literal [$derived:expr]) => { $default };
    (@shown f64 $default:literal []) => { $default };
    (@shown u32 $default:literal []) => { $default };
    (@shown bool $default:literal []) => { $default };
    (@shown $type:tt $default:literal []) => { concat!("\"", $default, "\"") };

    // The value that `new` gives a field.
    (@value $field:ident $type:tt [$default:literal] []) => {
        $crate::declaration::configuration!(@default_of $type $default)
    };
    (@value $field:ident $type:tt [$default:literal] [$derived:expr]) => { $derived };
    (@value $field:ident $type:tt [] []) => { $field };

    (@default_of AveragingInterval $default:literal) => {
        AveragingInterval::of_time($crate::declaration::written::span($default))
    };
    (@default_of f64 $default:literal) => { $crate::declaration::written::ratio($default) };
    (@default_of u32 $default:literal) => { $crate::declaration::written::count($default) };
    (@default_of bool $default:literal) => { $crate::declaration::written::flag($default) };
    (@default_of Cells $default:literal) => { $crate::declaration::written::cells($default) };
    (@default_of Duration $default:literal) => { $crate::declaration::written::span($default) };
    (@default_of CellRate $default:literal) => { $crate::declaration::written::rate($default) };
    (@default_of $words:ident $default:literal) => {
        match <$words>::named($default) {
            Some(word) => word,
            None => panic!("the word is one of those declared"),
        }
    };

    // The value that is read, or its default.
    (@read $values:ident $field:ident AveragingInterval [$default:literal] [] $about:expr) => {
        AveragingInterval::read($values, const { $crate::declaration::written::span($default) })?
    };
    (@read $values:ident $field:ident $type:tt [] [] $about:expr) => {
        match <$type as $crate::declaration::Setting>::read($values, stringify!($field))? {
            Some(value) => value,
            None => return Err($values.missing(stringify!($field), str::trim_ascii($about), "type")),
        }
    };
    (@read $values:ident $field:ident $type:tt [$default:literal] [] $about:expr) => {
        <$type as $crate::declaration::Setting>::read($values, stringify!($field))?
            .unwrap_or(const { $crate::declaration::configuration!(@default_of $type $default) })
    };
    (@read $values:ident $field:ident $type:tt [$default:literal] [$derived:expr] $about:expr) => {
        <$type as $crate::declaration::Setting>::read($values, stringify!($field))?.unwrap_or($derived)
    };

    // Refuses a value.
    (@check $field:ident AveragingInterval [$called:expr] [] []) => { $field.check()? };
    (@check $field:ident $type:tt [$called:expr] [$($range:path)?] [$holds:expr, $allowed:literal]) => {
        $crate::parameters::in_range(
            $called,
            $crate::declaration::Setting::number(&$field),
            <$type as $crate::declaration::Setting>::UNIT,
            $holds,
            $allowed,
        )?
    };
    (@check $field:ident f64 [$called:expr] [$range:path] []) => { $range.check($called, $field)? };
    (@check $field:ident OptionalRatio [$called:expr] [$range:path] []) => {
        if let Some(value) = $field {
            $range.check($called, value)?
        }
    };
    (@check $field:ident $type:tt [$called:expr] [] []) => { let _ = $field; };

    // Where everything has a default, it is `Default`, too.
    (@default $name:ident []) => {
        impl Default for $name {
            fn default() -> $name {
                $name::new()
            }
        }
    };
    (@default $name:ident [$($argument:ident)+]) => {};
}
pub(crate) use configuration;

/// Declares an enum whose variants are the words that a key may have.
///
/// A word stands once, behind its variant: from it follow the [`Kind`](crate::declaration::Kind) of the key, what it is
/// read into, and its name in results.
///
/// ```
/// cellrate_proto::declaration::words! {
///     /// What becomes of the older cell.
///     pub enum Older {
///         /// The newer one takes its place.
///         Overwritten = "overwrite",
///         /// It leaves at once.
///         Sent = "send",
///     }
/// }
/// assert_eq!((Older::WORDS, Older::named("send")), (&["overwrite", "send"][..], Some(Older::Sent)));
/// assert_eq!((Older::named("keep"), Older::Sent.word()), (None, "send"));
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// Every word, in the order of the variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The variant that `word` stands for; `None` if it is not one of [`WORDS`](Self::WORDS).
            pub const fn named(word: &str) -> Option<$name> {
                $(if $crate::declaration::written::same(word, $word) {
                    return Some($name::$variant);
                })+
                None
            }

            /// The word that stands for the variant.
            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl $crate::declaration::Setting for $name {
            const KIND: $crate::declaration::Kind = $crate::declaration::Kind::Choice($name::WORDS);

            fn read<V: $crate::declaration::Values>(
                values: &V,
                key: &'static str,
            ) -> Result<Option<$name>, V::Error> {
                Ok(values.word(key)?.and_then($name::named))
            }

            fn number(&self) -> f64 {
                *self as u8 as f64
            }
        }
    };
}
#[doc(inline)]
pub use __words as words;
