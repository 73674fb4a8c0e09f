//! Tables of keys.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Type, parenthesized};

use crate::attributes::{Condition, Expression, sentence};

/// A struct as a table.
struct Table {
    ident: Ident,
    about: String,
    /// Name in schema and reference.
    name: Option<LitStr>,
    prefix: String,
    /// Whether scenarios alone have it.
    is_written: bool,
    /// An argument of `read` that is no field: its name and type.
    beside: Option<TokenStream>,
    fields: Vec<Field>,
}

/// A field as a key, or as the keys of another table.
struct Field {
    ident: Ident,
    ty: Type,
    about: String,
    name: Option<LitStr>,
    default: Option<LitStr>,
    or: Option<TokenStream>,
    range: Option<TokenStream>,
    holds: Option<Condition>,
    declared_as: Option<Type>,
    kind: Option<TokenStream>,
    unit: Option<LitStr>,
    steps: Option<TokenStream>,
    missing: Option<LitStr>,
    is_argument: bool,
    is_elsewhere: bool,
    is_flat: bool,
    /// The argument that a flat table is read with.
    with: Option<TokenStream>,
    /// Whether the table is one that scenarios alone have.
    is_written: bool,
}

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let table = Table::read(input)?;
    let (keys, new, read, check) = (table.keys(), table.new_function(), table.read_function(), table.check());
    let (ident, default, setting) = (&table.ident, table.default(), table.setting());
    Ok(quote! {
        impl #ident {
            #keys
            #new
            #read
            #check
        }
        #default
        #setting
    })
}

impl Table {
    fn read(input: &DeriveInput) -> syn::Result<Table> {
        let Data::Struct(data) = &input.data else {
            return Err(Error::new(input.span(), "a table of keys is a struct"));
        };
        let (mut name, mut prefix, mut is_written, mut beside) = (None, String::new(), false, None);
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("table")) {
            attribute.parse_nested_meta(|meta| {
                match () {
                    () if meta.path.is_ident("name") => name = Some(meta.value()?.parse()?),
                    () if meta.path.is_ident("prefix") => prefix = meta.value()?.parse::<LitStr>()?.value(),
                    () if meta.path.is_ident("written") => is_written = true,
                    () if meta.path.is_ident("beside") => {
                        let content;
                        parenthesized!(content in meta.input);
                        beside = Some(content.parse::<TokenStream>()?);
                    }
                    () => return Err(meta.error("a table has `name`, `prefix`, `written` and `beside`")),
                }
                Ok(())
            })?;
        }
        let fields = match &data.fields {
            Fields::Named(fields) => {
                fields.named.iter().map(|field| Field::read(field, is_written)).collect::<syn::Result<_>>()?
            }
            _ => return Err(Error::new(input.span(), "a table of keys has named fields")),
        };
        Ok(Table {
            ident: input.ident.clone(),
            about: sentence(&input.attrs),
            name,
            prefix,
            is_written,
            beside,
            fields,
        })
    }

    /// Arguments of `new`: what must be given.
    fn arguments(&self) -> Vec<&Field> {
        self.fields.iter().filter(|field| field.is_argument || field.is_required()).collect()
    }

    /// Source that values are read from.
    fn source(&self) -> TokenStream {
        match self.is_written {
            true => quote!(crate::text::written::Written<'_>),
            false => quote!(V),
        }
    }

    fn keys(&self) -> TokenStream {
        let parts = self.fields.iter().map(Field::keys);
        let shape = self.name.as_ref().map(|name| {
            let about = &self.about;
            quote! {
                /// The table in schema and reference.
                pub const SHAPE: ::cellrate_proto::declaration::Shape =
                    ::cellrate_proto::declaration::Shape { name: #name, about: #about, keys: Self::KEYS };
            }
        });
        let count = self.fields.len();
        if count == 0 {
            return quote! {
                /// Every key: none.
                pub const KEYS: &'static [::cellrate_proto::declaration::Key] = &[];
                #shape
            };
        }
        quote! {
            /// Keys of each field, in the order of the fields.
            pub(crate) const PARTS: [&'static [::cellrate_proto::declaration::Key]; #count] = [#(#parts),*];
            /// Every key, in the order of the reference.
            pub const KEYS: &'static [::cellrate_proto::declaration::Key] =
                &::cellrate_proto::declaration::joined::<
                    _,
                    { ::cellrate_proto::declaration::total(&Self::PARTS) },
                >(&Self::PARTS);
            #shape
        }
    }

    fn new_function(&self) -> TokenStream {
        if self.is_written {
            return TokenStream::new();
        }
        let arguments = self.arguments().into_iter().map(|Field { ident, ty, .. }| quote!(#ident: #ty));
        let fields = self.fields.iter().map(|field| &field.ident);
        let values = self.fields.iter().filter_map(|field| {
            let (ident, value) = (&field.ident, field.value()?);
            Some(quote!(let #ident = #value;))
        });
        let listed = self.fields.iter().filter_map(|field| {
            let default = field.default.as_ref().filter(|_| !field.is_argument)?.value();
            Some(format!(" - `{}`: {default}", field.ident))
        });
        quote! {
            /// The given values, and every default:
            ///
            #(#[doc = #listed])*
            pub const fn new(#(#arguments),*) -> Self {
                #(#values)*
                Self { #(#fields),* }
            }
        }
    }

    fn read_function(&self) -> TokenStream {
        let own = self.fields.iter().filter(|field| field.is_argument);
        let own = own.map(|Field { ident, ty, .. }| quote!(#ident: #ty));
        let arguments: Vec<_> = own.chain(self.beside.iter().map(|beside| quote!(#beside))).collect();
        let source = self.source();
        let values = self.fields.iter().map(|field| field.reading(&source));
        let fields = self.fields.iter().map(|field| &field.ident);
        let used = match self.fields.is_empty() {
            true => quote!(let _ = values;),
            false => TokenStream::new(),
        };
        let head = match self.is_written {
            true => quote! {
                pub(crate) fn read(
                    values: &#source, #(#arguments),*
                ) -> ::core::result::Result<Self, crate::text::error::Fault>
            },
            false => quote! {
                pub fn read<V: ::cellrate_proto::declaration::Values>(
                    values: &V, #(#arguments),*
                ) -> ::core::result::Result<Self, V::Error>
            },
        };
        quote! {
            /// The table that `values` describe.
            ///
            /// # Errors
            /// A key that must be there is missing, or a value is not of its kind.
            #head {
                #used
                #(#values)*
                ::core::result::Result::Ok(Self { #(#fields),* })
            }
        }
    }

    fn check(&self) -> TokenStream {
        let checks: Vec<_> = self.fields.iter().filter_map(|field| field.check(&self.prefix)).collect();
        let asked: Vec<String> = self.fields.iter().flat_map(Field::names_in_check).collect();
        let used: Vec<_> = self
            .fields
            .iter()
            .map(|field| &field.ident)
            .filter(|ident| asked.iter().any(|name| *ident == name))
            .collect();
        quote! {
            /// Says which parameter is out of its range first, in the order of the fields.
            ///
            /// # Errors
            /// That parameter, with its value and what is allowed.
            pub fn check(&self) -> ::core::result::Result<(), ::cellrate_proto::declaration::ParameterError> {
                #(let #used = self.#used;)*
                #(#checks)*
                ::core::result::Result::Ok(())
            }
        }
    }

    fn default(&self) -> Option<TokenStream> {
        if !self.arguments().is_empty() || self.beside.is_some() {
            return None;
        }
        let ident = &self.ident;
        let value = match self.is_written {
            true => {
                let fields = self.fields.iter().map(|field| &field.ident);
                let values = self.fields.iter().filter_map(|field| {
                    let (ident, value) = (&field.ident, field.value()?);
                    Some(quote!(let #ident = #value;))
                });
                quote!(#(#values)* Self { #(#fields),* })
            }
            false => quote!(Self::new()),
        };
        Some(quote! {
            impl ::core::default::Default for #ident {
                fn default() -> Self {
                    #value
                }
            }
        })
    }

    /// A table with a name is the value of a key.
    fn setting(&self) -> Option<TokenStream> {
        self.name.as_ref()?;
        let (ident, reading) = (&self.ident, self.reading());
        Some(quote! {
            impl ::cellrate_proto::declaration::Setting for #ident {
                type Value = Self;
                const KIND: ::cellrate_proto::declaration::Kind =
                    ::cellrate_proto::declaration::Kind::Table(&Self::SHAPE);

                fn number(_: &Self) -> f64 {
                    f64::NAN
                }

                fn check(
                    table: &Self,
                ) -> ::core::result::Result<(), ::cellrate_proto::declaration::ParameterError> {
                    table.check()
                }
            }

            #reading
        })
    }

    /// How such a value is read; of a table that must be told something, code beside it says.
    fn reading(&self) -> Option<TokenStream> {
        let ident = &self.ident;
        match self.is_written {
            _ if self.beside.is_some() || self.fields.iter().any(|field| field.is_argument) => None,
            true => Some(quote! {
                impl crate::text::written::FromNode for #ident {
                    fn from_node(
                        node: &crate::text::tree::Node,
                    ) -> ::core::result::Result<Self, crate::text::error::Fault> {
                        let values = crate::text::written::Written::of(node);
                        let read = Self::read(&values)?;
                        let checked = read.check();
                        checked.map_err(|error| ::cellrate_proto::declaration::Values::out_of_range(&values, error))?;
                        ::core::result::Result::Ok(read)
                    }
                }

                impl ::cellrate_proto::declaration::Reading<crate::text::written::Written<'_>> for #ident {
                    fn read(
                        values: &crate::text::written::Written<'_>, key: &'static str,
                    ) -> ::core::result::Result<::core::option::Option<Self>, crate::text::error::Fault> {
                        let node = values.node(key).filter(|node| node.table().is_some());
                        node.map(<Self as crate::text::written::FromNode>::from_node).transpose()
                    }
                }
            }),
            false => Some(quote! {
                impl<V: ::cellrate_proto::declaration::Values> ::cellrate_proto::declaration::Reading<V> for #ident {
                    fn read(
                        values: &V, key: &'static str,
                    ) -> ::core::result::Result<::core::option::Option<Self>, V::Error> {
                        let ::core::option::Option::Some(table) = values.table(key) else {
                            return ::core::result::Result::Ok(::core::option::Option::None);
                        };
                        let read = Self::read(&table)?;
                        read.check().map_err(|error| table.out_of_range(error))?;
                        ::core::result::Result::Ok(::core::option::Option::Some(read))
                    }
                }
            }),
        }
    }
}

impl Field {
    fn read(field: &syn::Field, is_written: bool) -> syn::Result<Field> {
        let Some(ident) = field.ident.clone() else {
            return Err(Error::new(field.span(), "a key has a name"));
        };
        let mut read = Field {
            ident,
            ty: field.ty.clone(),
            about: sentence(&field.attrs),
            name: None,
            default: None,
            or: None,
            range: None,
            holds: None,
            declared_as: None,
            kind: None,
            unit: None,
            steps: None,
            missing: None,
            is_argument: false,
            is_elsewhere: false,
            is_flat: false,
            with: None,
            is_written,
        };
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("key")) {
            attribute.parse_nested_meta(|meta| {
                let expression = || Ok::<_, Error>(Some(meta.value()?.parse::<Expression>()?.0));
                let text = || Ok::<_, Error>(Some(meta.value()?.parse::<LitStr>()?));
                match () {
                    () if meta.path.is_ident("name") => read.name = text()?,
                    () if meta.path.is_ident("default") => read.default = text()?,
                    () if meta.path.is_ident("or") => read.or = expression()?,
                    () if meta.path.is_ident("range") => read.range = expression()?,
                    () if meta.path.is_ident("holds") => read.holds = Some(meta.input.parse()?),
                    () if meta.path.is_ident("as") => read.declared_as = Some(meta.value()?.parse()?),
                    () if meta.path.is_ident("kind") => read.kind = expression()?,
                    () if meta.path.is_ident("unit") => read.unit = text()?,
                    () if meta.path.is_ident("steps") => read.steps = expression()?,
                    () if meta.path.is_ident("missing") => read.missing = text()?,
                    () if meta.path.is_ident("argument") => read.is_argument = true,
                    () if meta.path.is_ident("elsewhere") => read.is_elsewhere = true,
                    () if meta.path.is_ident("flatten") => read.is_flat = true,
                    () if meta.path.is_ident("with") => read.with = expression()?,
                    () => return Err(meta.error("a key knows no such attribute")),
                }
                Ok(())
            })?;
        }
        let is_key = !read.is_flat && (read.default.is_some() || !read.is_argument);
        if is_key && read.about.is_empty() {
            return Err(Error::new(field.span(), "a key needs a comment: the sentence of the reference"));
        }
        if read.or.is_some() && read.default.is_none() {
            return Err(Error::new(field.span(), "`or` needs a `default`: the phrase for it"));
        }
        Ok(read)
    }

    fn is_required(&self) -> bool {
        self.default.is_none() && !self.is_argument && !self.is_flat
    }

    /// Whether `None` stands for a value that is not given.
    fn is_optional(&self) -> bool {
        self.type_name() == "Option"
    }

    fn key(&self) -> LitStr {
        let plain = || {
            let name = self.ident.to_string();
            LitStr::new(name.trim_start_matches("r#"), self.ident.span())
        };
        self.name.clone().unwrap_or_else(plain)
    }

    /// The type by which the value is declared.
    fn setting(&self) -> TokenStream {
        let ty = self.declared_as.as_ref().unwrap_or(&self.ty);
        quote!(#ty)
    }

    /// The last name of the type by which the value is declared.
    fn type_name(&self) -> String {
        match self.declared_as.as_ref().unwrap_or(&self.ty) {
            Type::Path(path) => {
                path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// A slice of the field's keys.
    fn keys(&self) -> TokenStream {
        let (ty, about, name, setting) = (&self.ty, &self.about, self.key(), self.setting());
        if self.is_argument && self.default.is_none() {
            return quote!(&[]);
        }
        if self.is_flat {
            return match &self.default {
                Some(default) => {
                    let quoted = format!("\"{}\"", default.value());
                    quote!(&<#ty>::keys(#quoted, #about))
                }
                None => quote!(<#ty>::KEYS),
            };
        }
        let kind = match (&self.kind, &self.range) {
            (Some(kind), _) => quote!(#kind),
            (None, Some(range)) => quote!(::cellrate_proto::declaration::Kind::Ratio(#range)),
            (None, None) => quote!(<#setting as ::cellrate_proto::declaration::Setting>::KIND),
        };
        let Some(default) = &self.default else {
            return quote!(&[::cellrate_proto::declaration::required(#name, #kind, #about)]);
        };
        let is_phrase = self.or.is_some() || self.is_argument || self.is_elsewhere || self.is_optional();
        let quoted = format!("\"{}\"", default.value());
        let shown = match is_phrase {
            true => quote!(#default),
            false => quote! {
                if <#setting as ::cellrate_proto::declaration::Setting>::QUOTED { #quoted } else { #default }
            },
        };
        let steps = self.steps.iter();
        quote!(&[::cellrate_proto::declaration::key(#name, #kind, #shown, #about) #(.with_steps(#steps))*])
    }

    /// The value that `new` gives; `None` for an argument.
    fn value(&self) -> Option<TokenStream> {
        if self.is_argument || self.is_required() {
            return None;
        }
        let ty = &self.ty;
        if self.is_elsewhere {
            return Some(quote!(<#ty as ::core::default::Default>::default()));
        }
        let Some(default) = &self.default else {
            return Some(match self.is_written {
                true => quote!(<#ty as ::core::default::Default>::default()),
                false => quote!(<#ty>::new()),
            });
        };
        if let Some(or) = &self.or {
            return Some(quote!(#or));
        }
        if self.is_flat {
            return Some(quote!(<#ty>::written(#default)));
        }
        if self.is_optional() {
            return Some(quote!(::core::option::Option::None));
        }
        let name = self.type_name();
        let parser = match name.as_str() {
            _ if default.value() == "[]" => return Some(quote!(<#ty>::new())),
            "String" => return Some(quote!(<#ty>::from(#default))),
            "f64" => "ratio",
            "u32" => "count",
            "bool" => "flag",
            "Cells" => "cells",
            "Octets" => "octets",
            "Time" => "instant",
            "Duration" => "span",
            "CellRate" => "rate",
            "PowerOfTwo" => "power_of_two",
            _ if self.declared_as.is_some() => {
                let setting = self.setting();
                return Some(quote!(<#setting>::written(#default)));
            }
            _ => {
                return Some(quote! {
                    match <#ty>::named(#default) {
                        ::core::option::Option::Some(word) => word,
                        ::core::option::Option::None => panic!("the word is one of those declared"),
                    }
                });
            }
        };
        let parser = format_ident!("{parser}");
        Some(quote!(::cellrate_proto::declaration::written::#parser(#default)))
    }

    /// The statement that reads the field.
    fn reading(&self, source: &TokenStream) -> TokenStream {
        let (ident, ty, name, setting) = (&self.ident, &self.ty, self.key(), self.setting());
        if self.is_argument && self.default.is_none() {
            return TokenStream::new();
        }
        if self.is_elsewhere {
            return quote!(let #ident = <#ty as ::core::default::Default>::default(););
        }
        if self.is_flat {
            let value = match (&self.default, &self.with) {
                (Some(default), _) => quote!(<#ty>::read(values, const { <#ty>::written(#default) })?),
                (None, Some(with)) => quote!(<#ty>::read(values, #with)?),
                (None, None) => quote!(<#ty>::read(values)?),
            };
            return quote!(let #ident = #value;);
        }
        let read =
            quote!(<#setting as ::cellrate_proto::declaration::Reading<#source>>::read(values, #name)?);
        if self.is_argument {
            return quote!(let #ident = #read.unwrap_or(#ident););
        }
        let Some(value) = self.value() else {
            let about = self.missing.as_ref().map_or_else(|| self.about.clone(), LitStr::value);
            return quote! {
                let ::core::option::Option::Some(#ident) = #read else {
                    return ::core::result::Result::Err(
                        ::cellrate_proto::declaration::Values::missing(values, #name, #about, "type"),
                    );
                };
            };
        };
        match self.or.is_some() || self.is_written {
            true => quote!(let #ident = match #read {
                ::core::option::Option::Some(value) => value,
                ::core::option::Option::None => #value,
            };),
            false => quote!(let #ident = #read.unwrap_or(const { #value });),
        }
    }

    /// The statement that refuses a value.
    fn check(&self, prefix: &str) -> Option<TokenStream> {
        let (ident, setting) = (&self.ident, self.setting());
        let called = format!("{prefix}{}", self.key().value());
        if self.is_flat {
            return Some(quote!(self.#ident.check()?;));
        }
        if let Some(Condition { holds, allowed }) = &self.holds {
            let unit = match &self.unit {
                Some(unit) => quote!(#unit),
                None => quote!(<#setting as ::cellrate_proto::declaration::Setting>::UNIT),
            };
            return Some(quote! {
                ::cellrate_proto::declaration::in_range(
                    #called,
                    <#setting as ::cellrate_proto::declaration::Setting>::number(&#ident),
                    #unit,
                    #holds,
                    #allowed,
                )?;
            });
        }
        let Some(range) = &self.range else {
            let is_read = !self.is_argument && !self.is_elsewhere;
            return is_read.then(
                || quote!(<#setting as ::cellrate_proto::declaration::Setting>::check(&self.#ident)?;),
            );
        };
        match self.is_optional() {
            true => Some(quote! {
                if let ::core::option::Option::Some(value) = #ident {
                    (#range).check(#called, value)?;
                }
            }),
            false => Some(quote!((#range).check(#called, #ident)?;)),
        }
    }

    /// Names in the check that may be fields.
    fn names_in_check(&self) -> Vec<String> {
        let mut names = Vec::new();
        if let Some(Condition { holds, .. }) = &self.holds {
            identifiers(holds.clone(), &mut names);
        }
        if self.range.is_some() || self.holds.is_some() {
            names.push(self.ident.to_string());
        }
        names
    }
}

fn identifiers(tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => identifiers(group.stream(), found),
            TokenTree::Ident(ident) => found.push(ident.to_string()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
