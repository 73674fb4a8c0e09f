//! `#[derive(Results)]`: the tables of a result.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, GenericArgument, PathArguments, Result, Type};

use crate::attributes::sentence;
use crate::row::fields;

/// The implementation of `Results`.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let mut tables = Vec::new();
    for field in fields(input)? {
        let name = field.ident.as_ref().expect("fields are named");
        let key = name.to_string();
        let sentence = sentence(&field.attrs);
        if sentence.is_empty() {
            return Err(Error::new(
                name.span(),
                format!("`{key}` has no doc comment, which is its sentence of the reference"),
            ));
        }
        let (row, is_list) = row_of(&field.ty);
        tables.push(quote! { ::cellrate_engine::declared::Table::of::<#row>(#key, #sentence, #is_list) });
    }
    let name = &input.ident;
    Ok(quote! {
        impl ::cellrate_engine::declared::Results for #name {
            fn tables() -> ::std::vec::Vec<::cellrate_engine::declared::Table> {
                ::std::vec![#(#tables),*]
            }
        }
    })
}

/// The type of the rows, and whether there is a list of them.
fn row_of(kind: &Type) -> (&Type, bool) {
    let Type::Path(path) = kind else { return (kind, false) };
    let Some(last) = path.path.segments.last() else { return (kind, false) };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return (kind, false) };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if last.ident == "Vec" => (inner, true),
        Some(GenericArgument::Type(inner)) if last.ident == "Option" => (inner, false),
        _ => (kind, false),
    }
}
