//! Derives for what cellrate declares once. They write code of `cellrate-proto`'s module `declaration`, and of
//! `cellrate-engine`'s module `declared`, which define the terms.

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

mod attributes;
mod results;
mod row;
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
///   its function `written`, and its keys by its function `keys`. With `with = expression`, its `read` gets that value.
///
/// The struct's `#[table(...)]` takes:
///
/// - `name = "..."`: the name of the table in schema and reference. From it follows `SHAPE`, and the struct can be the
///   type of a field of another table. Its comment's first paragraph is the sentence on it.
/// - `written`: a table that scenarios alone have. It is read from the text of one (`cellrate-scenario`), and not a
///   constant: in place of `new` it has `Default`.
/// - `beside(base: &Type)`: an argument of `read` that defaults may be taken from; there is no `Default` then.
/// - `prefix = "..."`: errors of `check` call the fields so, with the prefix.
#[proc_macro_derive(Table, attributes(table, key))]
pub fn table(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    table::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Declares the columns of a row of results: implements `cellrate_engine::declared::Row`.
///
/// The struct says how its rows are called: `#[row(one = "port", many = "ports", named = "{port}")]`, and, where many
/// rows tell nothing, which do: `tells(max_queue > 1, dropped > 0)`, of which one is enough.
///
/// Each field is a column. Its doc comment is the sentence of the reference. A field says with `#[row(...)]`
///
/// - `name`: it says of what the row is, as all texts do;
/// - `unit = cells`: its unit, a variant of `cellrate_engine::declared::Unit`, in lower case;
/// - `adds = sum`: how the rows of a result make one figure: `sum`, `largest`, `least`, `mean`, `mean(WEIGHT)` with the
///   column that weighs, or `none` where they make none;
/// - `heading = "dropped"`: it is in tables for people, under this heading; `heading_if_any` where some row has more
///   than zero. In figures a column without a heading is called by its key;
/// - `shown_in = "us"`, `decimals = 1`: other than its unit has by default.
///
/// A number without `unit` and `adds` does not compile, unless it is a `name`. Fields that serde flattens give their
/// own columns, and those that it skips give none.
#[proc_macro_derive(Row, attributes(row))]
pub fn row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    row::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Declares the tables of a result: implements `cellrate_engine::declared::Results`.
///
/// Each field is a table: a `Vec` of rows, an `Option` of a row, or a row. Its doc comment is the sentence of the
/// reference.
#[proc_macro_derive(Results)]
pub fn results(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    results::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
