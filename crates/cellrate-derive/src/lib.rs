//! Derives for what cellrate declares once. They write code of `cellrate-proto`'s module `declaration`, which defines
//! the terms.

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

mod attributes;
mod table;

/// Makes a table of keys of a struct: each field is a key, and its comment's first paragraph is the sentence of the
/// reference.
///
/// ```text
/// /// Phantom's parameters.
/// #[derive(Clone, Copy, Debug, PartialEq, Table)]
/// pub struct PhantomConfig {
///     /// Averaging interval: its length at most.
///     #[key(flatten, default = "0.5 ms")]
///     pub interval: AveragingInterval,
///     /// Weight of the newest interval in the mean.
///     #[key(default = "1/128", range = Range::SHARE)]
///     pub alpha: f64,
/// }
/// ```
///
/// From these follow `KEYS`, `new` with every default, `Default` where every field has one, `read` and `check`.
///
/// A field's `#[key(...)]` takes:
///
/// - `default = "0.5 ms"`: the default as it would be written. The type decides how it is read. `Option` has `None`,
///   and the text is a phrase for it. A field without a default must be given, and is an argument of `new`.
/// - `default = "4 * threshold", or = expression`: a phrase, and the value, which earlier fields may decide.
/// - `default = "...", argument`: a phrase for a default that is an argument of `new` and of `read`.
/// - `argument` without a default: no key, but an argument of `new` and of `read`; with `flatten` it is checked, too.
/// - `range = Range::SHARE`: the bounds of a ratio.
/// - `holds(condition, "phrase")`: the condition that must hold; the error says that the value must be `phrase`.
/// - `name = "..."`: the key, where the field has another name.
/// - `as = Type`: how the value is declared and read, where that is not the field's type: a `Setting` whose `Value` is
///   the field's type.
/// - `kind = expression`: the values that the key may have, where the type allows more.
/// - `unit = "..."`: the unit of the number in errors of `check`, where the type has another or none.
/// - `steps = expression`: all values of the key, where there are only so many.
/// - `missing = "..."`: a hint for the error that a required key is missing, in place of the sentence.
/// - `elsewhere`: the key, of this `kind`, is declared here, and other code sets the field; until then it has the
///   default of its type.
/// - `flatten`: the keys of another table, among those of this one. With `default`, the table's own default is made by
///   its function `written`, and its keys by its function `keys`.
///
/// The struct's `#[table(...)]` takes:
///
/// - `name = "..."`: the name of the table in schema and reference. From it follows `SHAPE`, and the struct can be the
///   type of a field of another table. Its comment's first paragraph is the sentence on it.
/// - `written`: a table that scenarios alone have. It is read from the text of one (`cellrate-scenario`), and not a
///   constant: in place of `new` it has `Default`.
/// - `prefix = "..."`: errors of `check` call the fields so, with the prefix.
#[proc_macro_derive(Table, attributes(table, key))]
pub fn table(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    table::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
