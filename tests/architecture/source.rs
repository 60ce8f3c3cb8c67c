//! What the other tests ask about a Rust file: its paths, calls, strings, constants and tests.

use std::mem;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Abi, Attribute, Expr, ExprCall, ExprMethodCall, ItemConst, ItemFn, ItemMod, ItemUse, Lit,
    LitStr, Macro, Member, Meta, Path, Token, UseTree, parse::Parser, punctuated::Punctuated,
    spanned::Spanned, visit, visit::Visit,
};

type Arguments = Punctuated<Expr, Token![,]>;

/// A call of a method, function or macro. The name of a macro ends with `!`.
#[derive(Default)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The variable or field whose method is called.
    pub(crate) receiver: String,
    /// The first argument if it is a string.
    pub(crate) text: Option<String>,
}

#[derive(Default)]
pub(crate) struct Source {
    pub(crate) calls: Vec<Call>,
    /// The name of each constant, with the paths in its value.
    pub(crate) constants: Vec<(String, Vec<String>)>,
    /// The number of lines, without the modules that are left out.
    pub(crate) lines: usize,
    /// All paths, such as `env::var`.
    pub(crate) paths: Vec<String>,
    pub(crate) strings: Vec<String>,
    /// The test functions: line and name.
    pub(crate) tests: Vec<(usize, String)>,
    /// The paths of `use`, one by one and without `as`.
    pub(crate) uses: Vec<String>,
    leaves_tests_out: bool,
}

/// The Rust files below `folder` whose names end with `ending`.
pub(crate) fn whole(folder: &str, ending: &str) -> Vec<(String, Source)> {
    parsed(folder, ending, false)
}

/// As [`whole`], without the modules that have the attribute `#[cfg(test)]`.
pub(crate) fn code(folder: &str, ending: &str) -> Vec<(String, Source)> {
    parsed(folder, ending, true)
}

fn parsed(folder: &str, ending: &str, leaves_tests_out: bool) -> Vec<(String, Source)> {
    let files = crate::files(folder, ending).into_iter();
    let sources = files.map(|(file, text)| {
        let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut source = Source { leaves_tests_out, ..Source::default() };
        source.lines = text.lines().count();
        source.visit_file(&syntax);
        (file, source)
    });
    sources.collect()
}

fn joined(path: &Path) -> String {
    let names = path.segments.iter().map(|name| name.ident.to_string());
    names.collect::<Vec<_>>().join("::")
}

/// The name of a variable, function or field.
fn name(value: &Expr) -> String {
    match value {
        Expr::Path(path) => joined(&path.path),
        Expr::Field(field) if let Member::Named(name) = &field.member => name.to_string(),
        _ => String::new(),
    }
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

    fn call(&mut self, receiver: String, name: &str, arguments: &Arguments) {
        arguments.iter().for_each(|value| self.visit_expr(value));
        let text = match arguments.first() {
            Some(Expr::Lit(value)) if let Lit::Str(text) = &value.lit => Some(text.value()),
            _ => None,
        };
        let name = name.rsplit("::").next().unwrap_or_default().to_owned();
        self.calls.push(Call { name, receiver, text });
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
        self.uses.push(format!("{start}{name}"));
        self.paths.push(format!("{start}{name}"));
    }

    /// The tokens of a macro or attribute, which need not be expressions.
    fn tokens(&mut self, name: &str, tokens: TokenStream) {
        if let Ok(arguments) = Arguments::parse_terminated.parse2(tokens.clone()) {
            return self.call(String::new(), name, &arguments);
        }
        self.call(String::new(), name, &Arguments::new());
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
                TokenTree::Literal(value) => self.visit_lit(&Lit::new(value)),
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
    fn visit_item_mod(&mut self, module: &ItemMod) {
        let is_cfg_test = |attribute: &Attribute| {
            let list = attribute.meta.require_list();
            list.is_ok_and(|list| list.path.is_ident("cfg") && list.tokens.to_string() == "test")
        };
        if self.leaves_tests_out && module.attrs.iter().any(is_cfg_test) {
            self.lines -= module.span().end().line - module.span().start().line + 1;
        } else {
            visit::visit_item_mod(self, module);
        }
    }

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

    fn visit_item_const(&mut self, item: &ItemConst) {
        let start = self.paths.len();
        self.visit_expr(&item.expr);
        let paths = self.paths[start..].to_vec();
        self.constants.push((item.ident.to_string(), paths));
        self.visit_type(&item.ty);
    }

    fn visit_expr_call(&mut self, call: &ExprCall) {
        self.visit_expr(&call.func);
        self.call(String::new(), &name(&call.func), &call.args);
    }

    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        self.visit_expr(&call.receiver);
        let types = call.turbofish.iter();
        types.for_each(|types| self.visit_angle_bracketed_generic_arguments(types));
        self.call(name(&call.receiver), &call.method.to_string(), &call.args);
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

    fn visit_lit_str(&mut self, text: &LitStr) {
        self.strings.push(text.value());
    }

    fn visit_macro(&mut self, call: &Macro) {
        self.tokens(&format!("{}!", joined(&call.path)), call.tokens.clone());
    }
}
