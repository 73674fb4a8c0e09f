//! Words that a key may have.

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
            type Value = $name;
            const KIND: $crate::declaration::Kind = $crate::declaration::Kind::Choice($name::WORDS);

            fn number(value: &$name) -> f64 {
                *value as u8 as f64
            }
        }

        impl<V: $crate::declaration::Values> $crate::declaration::Reading<V> for $name {
            fn read(values: &V, key: &'static str) -> Result<Option<$name>, V::Error> {
                Ok(values.word(key)?.and_then($name::named))
            }
        }
    };
}
#[doc(inline)]
pub use __words as words;
