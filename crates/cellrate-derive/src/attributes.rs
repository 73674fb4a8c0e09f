//! Comments and attributes of structs and fields, as derives read them.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, Lit, LitStr, Meta, Token, parenthesized};

/// The first paragraph of a comment, on one line.
pub(crate) fn sentence(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_string()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Tokens up to the next comma.
pub(crate) struct Expression(pub TokenStream);

impl Parse for Expression {
    fn parse(input: ParseStream<'_>) -> syn::Result<Expression> {
        let mut tokens = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            input.parse::<TokenTree>()?.to_tokens(&mut tokens);
        }
        match tokens.is_empty() {
            true => Err(input.error("an expression is due here")),
            false => Ok(Expression(tokens)),
        }
    }
}

/// `(condition, "phrase")`.
pub(crate) struct Condition {
    pub holds: TokenStream,
    pub allowed: LitStr,
}

impl Parse for Condition {
    fn parse(input: ParseStream<'_>) -> syn::Result<Condition> {
        let content;
        parenthesized!(content in input);
        let Expression(holds) = content.parse()?;
        content.parse::<Token![,]>()?;
        let allowed = content.parse()?;
        content.parse::<Option<Token![,]>>()?;
        Ok(Condition { holds, allowed })
    }
}
