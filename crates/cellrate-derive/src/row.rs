//! `#[derive(Row)]`: the columns of a row of results.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Fields, LitInt, LitStr, Result, Token, Type};

use crate::attributes::sentence;

/// The implementation of `Row`.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let About { one, many, named, tells } = About::of(input)?;
    let mut columns = Vec::new();
    for field in fields(input)? {
        match Serde::of(field)? {
            Serde::Skipped => {}
            Serde::Flattened => {
                let kind = &field.ty;
                columns
                    .push(quote! { columns.extend(<#kind as ::cellrate_engine::declared::Row>::columns()); });
            }
            Serde::Plain => {
                let column = column(field)?;
                columns.push(quote! { columns.push(#column); });
            }
        }
    }
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let mut bounds = bounds.cloned().unwrap_or_else(|| syn::parse_quote! { where });
    for parameter in input.generics.type_params() {
        let parameter = &parameter.ident;
        // A parameter is the type of a value, or that of a row which is flattened.
        let flattened = fields(input)?.iter().any(|field| {
            matches!(&field.ty, Type::Path(path) if path.path.is_ident(parameter))
                && matches!(Serde::of(field), Ok(Serde::Flattened))
        });
        let bound = if flattened { format_ident!("Row") } else { format_ident!("Value") };
        bounds.predicates.push(syn::parse_quote! { #parameter: ::cellrate_engine::declared::#bound });
    }
    Ok(quote! {
        impl #generics ::cellrate_engine::declared::Row for #name #arguments #bounds {
            const ABOUT: ::cellrate_engine::declared::About = ::cellrate_engine::declared::About {
                one: #one,
                many: #many,
                named: #named,
                tells: &[#(#tells),*],
            };

            fn columns() -> ::std::vec::Vec<::cellrate_engine::declared::Column> {
                let mut columns = ::std::vec::Vec::new();
                #(#columns)*
                columns
            }
        }
    })
}

/// The fields of a struct that has named ones.
pub(crate) fn fields(input: &DeriveInput) -> Result<Vec<&Field>> {
    match &input.data {
        Data::Struct(data) if matches!(data.fields, Fields::Named(_)) => Ok(data.fields.iter().collect()),
        _ => Err(Error::new(input.span(), "a struct with named fields is due here")),
    }
}

/// Words of a struct on its rows.
#[derive(Default)]
struct About {
    one: String,
    many: String,
    named: String,
    tells: Vec<TokenStream>,
}

impl About {
    fn of(input: &DeriveInput) -> Result<About> {
        let mut about = About::default();
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("row")) {
            attribute.parse_nested_meta(|meta| about.take(&meta))?;
        }
        Ok(about)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        if meta.path.is_ident("tells") {
            return meta.parse_nested_meta(|bound| {
                let key = bound.path.require_ident()?.to_string();
                bound.input.parse::<Token![>]>()?;
                let above: LitInt = bound.input.parse()?;
                self.tells.push(quote! { (#key, #above) });
                Ok(())
            });
        }
        let text = || Ok::<_, Error>(meta.value()?.parse::<LitStr>()?.value());
        if meta.path.is_ident("one") {
            self.one = text()?;
        } else if meta.path.is_ident("many") {
            self.many = text()?;
        } else if meta.path.is_ident("named") {
            self.named = text()?;
        } else {
            return Err(meta.error("a struct of rows says `one`, `many`, `named` or `tells`"));
        }
        Ok(())
    }
}

/// The treatment of a field by serde.
enum Serde {
    Plain,
    Flattened,
    Skipped,
}

impl Serde {
    fn of(field: &Field) -> Result<Serde> {
        let mut found = Serde::Plain;
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| {
                found = match () {
                    () if meta.path.is_ident("skip") => Serde::Skipped,
                    () if meta.path.is_ident("flatten") => Serde::Flattened,
                    () => return Err(meta.error("columns are known of `skip` and `flatten` only")),
                };
                Ok(())
            })?;
        }
        Ok(found)
    }
}

/// Words of a field on its column.
#[derive(Default)]
struct Said {
    is_name: bool,
    unit: Option<Ident>,
    adds: Option<TokenStream>,
    heading: Option<String>,
    if_any: bool,
    shown_in: Option<String>,
    decimals: Option<LitInt>,
}

impl Said {
    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let text = || Ok::<_, Error>(meta.value()?.parse::<LitStr>()?.value());
        let key = meta.path.require_ident()?.to_string();
        match key.as_str() {
            "name" => self.is_name = true,
            "unit" => self.unit = Some(capital(&meta.value()?.parse()?)),
            "adds" => self.adds = Some(adds(meta)?),
            "heading" | "heading_if_any" => {
                self.heading = Some(text()?);
                self.if_any = key == "heading_if_any";
            }
            "shown_in" => self.shown_in = Some(text()?),
            "decimals" => self.decimals = Some(meta.value()?.parse()?),
            _ => {
                let known = "a column says `name`, `unit`, `adds`, `heading`, `heading_if_any`, `shown_in` or `decimals`";
                return Err(meta.error(known));
            }
        }
        Ok(())
    }
}

/// `sum`, `largest`, `least`, `none`, `mean` or `mean(WEIGHT)`.
fn adds(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    let how: Ident = meta.value()?.parse()?;
    if how == "mean" {
        let weight = if meta.input.peek(syn::token::Paren) {
            let inside;
            syn::parenthesized!(inside in meta.input);
            let weight = inside.parse::<Ident>()?.to_string();
            quote! { ::std::option::Option::Some(#weight) }
        } else {
            quote! { ::std::option::Option::None }
        };
        return Ok(quote! { Mean(#weight) });
    }
    let variant = capital(&how);
    Ok(quote! { #variant })
}

/// `cells_per_s` as `CellsPerS`.
fn capital(word: &Ident) -> Ident {
    let word_text = word.to_string();
    let parts = word_text.split('_').map(|part| {
        let mut letters = part.chars();
        letters
            .next()
            .map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
    });
    Ident::new(&parts.collect::<String>(), word.span())
}

fn column(field: &Field) -> Result<TokenStream> {
    let mut said = Said::default();
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("row")) {
        attribute.parse_nested_meta(|meta| said.take(&meta))?;
    }
    let name = field.ident.as_ref().expect("fields are named");
    let key = name.to_string();
    let is_number = !is_text(&field.ty);
    if is_number && !said.is_name && (said.unit.is_none() || said.adds.is_none()) {
        let message = format!(
            "`{key}` is a number: say its unit and how it adds up, such as #[row(unit = cells, adds = sum)], or that it \
             is a name, #[row(name)]"
        );
        return Err(Error::new(name.span(), message));
    }
    if !is_number && (said.unit.is_some() || said.adds.is_some()) {
        return Err(Error::new(
            name.span(),
            format!("`{key}` is no number: it has no unit and does not add up"),
        ));
    }
    let sentence = sentence(&field.attrs);
    if sentence.is_empty() {
        return Err(Error::new(
            name.span(),
            format!("`{key}` has no doc comment, which is its sentence of the reference"),
        ));
    }
    let unit = said.unit.unwrap_or_else(|| format_ident!("Plain"));
    let adds = said.adds.unwrap_or_else(|| quote! { None });
    let is_name = said.is_name;
    let shown = match (&said.heading, said.if_any) {
        (None, _) => format_ident!("Never"),
        (_, true) => format_ident!("IfAny"),
        (_, false) => format_ident!("Always"),
    };
    let heading = said.heading.unwrap_or_default();
    let shown_in = said.shown_in.map_or(quote! { None }, |unit| quote! { Some(#unit) });
    let decimals = said.decimals.map_or(quote! { None }, |count| quote! { Some(#count) });
    let kind = &field.ty;
    Ok(quote! {
        ::cellrate_engine::declared::Column {
            key: #key,
            kind: <#kind as ::cellrate_engine::declared::Value>::KIND,
            nullable: <#kind as ::cellrate_engine::declared::Value>::NULLABLE,
            is_name: #is_name,
            unit: ::cellrate_engine::declared::Unit::#unit,
            adds: ::cellrate_engine::declared::Adds::#adds,
            heading: #heading,
            shown: ::cellrate_engine::declared::Shown::#shown,
            shown_in: #shown_in,
            decimals: #decimals,
            sentence: #sentence,
        }
    })
}

/// Whether a type is that of texts or flags, which have no unit.
fn is_text(kind: &Type) -> bool {
    let written = quote! { #kind }.to_string();
    written
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|word| matches!(word, "String" | "str" | "bool"))
}
