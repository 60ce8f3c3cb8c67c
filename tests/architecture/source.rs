//! What the other tests ask about a Rust file: its paths, calls and tests.

use std::mem;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Abi, Attribute, Expr, ExprCall, ExprMethodCall, ItemFn, ItemUse, Macro, Meta, Path, Token,
    UseTree, parse::Parser, punctuated::Punctuated, visit, visit::Visit,
};

type Arguments = Punctuated<Expr, Token![,]>;

/// A call of a method, function or macro. The name of a macro ends with `!`.
#[derive(Default)]
pub(crate) struct Call {
    pub(crate) name: String,
}

#[derive(Default)]
pub(crate) struct Source {
    pub(crate) calls: Vec<Call>,
    /// All paths, such as `env::var`.
    pub(crate) paths: Vec<String>,
    /// The test functions: line and name.
    pub(crate) tests: Vec<(usize, String)>,
}

/// The Rust files below `folder` whose names end with `ending`.
pub(crate) fn whole(folder: &str, ending: &str) -> Vec<(String, Source)> {
    let files = crate::files(folder, ending).into_iter();
    let sources = files.map(|(file, text)| {
        let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut source = Source::default();
        source.visit_file(&syntax);
        (file, source)
    });
    sources.collect()
}

fn joined(path: &Path) -> String {
    let names = path.segments.iter().map(|name| name.ident.to_string());
    names.collect::<Vec<_>>().join("::")
}

impl Source {
    /// Whether a path has these names next to each other; the last one may be longer.
    pub(crate) fn has_path(&self, names: &str) -> bool {
        let names = format!("::{names}");
        let mut paths = self.paths.iter();
        paths.any(|path| format!("::{path}").contains(&names))
    }

    /// Whether something is called whose name contains `part`.
    pub(crate) fn has_call(&self, part: &str) -> bool {
        self.calls.iter().any(|call| call.name.contains(part))
    }

    fn call(&mut self, name: &str, arguments: &Arguments) {
        arguments.iter().for_each(|value| self.visit_expr(value));
        let name = name.rsplit("::").next().unwrap_or_default().to_owned();
        self.calls.push(Call { name });
    }

    fn import(&mut self, start: &str, tree: &UseTree) {
        let name = match tree {
            UseTree::Path(path) => {
                return self.import(&format!("{start}{}::", path.ident), &path.tree);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(start, tree));
            }
            UseTree::Name(name) => name.ident.to_string(),
            UseTree::Rename(name) => name.ident.to_string(),
            UseTree::Glob(_) => "*".to_owned(),
        };
        self.paths.push(format!("{start}{name}"));
    }

    /// The tokens of a macro or attribute, which need not be expressions.
    fn tokens(&mut self, name: &str, tokens: TokenStream) {
        if let Ok(arguments) = Arguments::parse_terminated.parse2(tokens.clone()) {
            return self.call(name, &arguments);
        }
        self.call(name, &Arguments::new());
        let (mut path, mut has_test) = (String::new(), false);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if path == "fn" && mem::take(&mut has_test) {
                        self.test(&name);
                    }
                    if !path.ends_with("::") {
                        path.clear();
                    }
                    path.push_str(&name.to_string());
                    self.paths.push(path.clone());
                }
                TokenTree::Punct(sign) => path.push(sign.as_char()),
                TokenTree::Literal(_) => {}
                TokenTree::Group(group) => {
                    let tokens = group.stream();
                    has_test |= path.ends_with('#') && tokens.to_string().ends_with("test");
                    self.tokens(&mem::take(&mut path), tokens);
                }
            }
        }
    }

    fn test(&mut self, name: &Ident) {
        self.tests.push((name.span().start().line, name.to_string()));
    }
}

impl Visit<'_> for Source {
    fn visit_item_use(&mut self, item: &ItemUse) {
        self.import("", &item.tree);
    }

    fn visit_item_fn(&mut self, item: &ItemFn) {
        let mut attributes = item.attrs.iter();
        if attributes.any(|attribute| joined(attribute.path()).ends_with("test")) {
            self.test(&item.sig.ident);
        }
        visit::visit_item_fn(self, item);
    }

    fn visit_expr_call(&mut self, call: &ExprCall) {
        self.visit_expr(&call.func);
        let name = match &*call.func {
            Expr::Path(path) => joined(&path.path),
            _ => String::new(),
        };
        self.call(&name, &call.args);
    }

    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        self.visit_expr(&call.receiver);
        let types = call.turbofish.iter();
        types.for_each(|types| self.visit_angle_bracketed_generic_arguments(types));
        self.call(&call.method.to_string(), &call.args);
    }

    fn visit_path(&mut self, path: &Path) {
        self.paths.push(joined(path));
        visit::visit_path(self, path);
    }

    fn visit_abi(&mut self, _: &Abi) {
        self.paths.push("extern::".to_owned());
    }

    fn visit_attribute(&mut self, attribute: &Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens("", list.tokens.clone());
        }
    }

    fn visit_macro(&mut self, call: &Macro) {
        self.tokens(&format!("{}!", joined(&call.path)), call.tokens.clone());
    }
}
