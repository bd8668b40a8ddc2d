//! Which modules does a crate have, what do they define, and what does each name mean there?
//!
//! The answer serves the search for import cycles. A name is followed through re-exports to the
//! file that defines it: a file that uses `crate::Thing` depends on the file of `Thing`, not on the
//! root which passes it on. Modules that are compiled for tests only are left out, as is everything
//! outside the crate.

use super::source::{Kind, Source};
use super::uses::{self, Leaf};
use std::collections::{HashMap, HashSet};
use syn::spanned::Spanned;

/// Re-exports may form chains, and broken source may form rings.
const DEPTH: usize = 24;

/// One module, inline or a file of its own.
#[derive(Default)]
pub(crate) struct Module {
    /// Index of the source file it stands in.
    pub(crate) file: usize,
    parent: Option<usize>,
    children: HashMap<String, usize>,
    items: HashSet<String>,
    pub(crate) uses: Vec<Leaf>,
    /// Paths in the code, each with its line, opened like a use tree.
    pub(crate) paths: Vec<Leaf>,
    /// Words that stand for themselves in the code: what a re-exported name may be used by.
    pub(crate) words: HashSet<String>,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Module(usize),
    /// An item in this file.
    Item(usize),
}

/// All modules of one crate; the first is the root.
pub(crate) struct Modules<'s, 't> {
    pub(crate) sources: &'s [Source<'t>],
    pub(crate) list: Vec<Module>,
}

impl<'s, 't> Modules<'s, 't> {
    /// Reads the crate whose root file is `sources[root]`.
    pub(crate) fn read(sources: &'s [Source<'t>], root: usize) -> Modules<'s, 't> {
        let mut modules = Modules { sources, list: Vec::new() };
        modules.list.push(Module { file: root, ..Module::default() });
        let path = sources[root].path;
        let folder = super::tree::parent(path).to_owned();
        modules.items(0, &sources[root].syntax.items, &folder);
        modules
    }

    fn items(&mut self, module: usize, items: &[syn::Item], folder: &str) {
        for item in items {
            if !only_for_tests(attributes(item)) {
                self.item(module, item, folder);
            }
        }
    }

    fn item(&mut self, module: usize, item: &syn::Item, folder: &str) {
        match item {
            syn::Item::Mod(child) => self.child(module, child, folder),
            syn::Item::Use(item) => {
                let public = !matches!(item.vis, syn::Visibility::Inherited);
                let source = &self.sources[self.list[module].file];
                let at = token_at(source, item.use_token.span.byte_range().start);
                self.list[module].uses.extend(uses::leaves(source, at + 1, public));
            }
            other => {
                if let Some(name) = name(other) {
                    self.list[module].items.insert(name);
                }
                self.code(module, other.span().byte_range());
            }
        }
    }

    fn child(&mut self, parent: usize, item: &syn::ItemMod, folder: &str) {
        let name = item.ident.to_string();
        let id = self.list.len();
        let folder = format!("{folder}/{name}");
        let mut module = Module { parent: Some(parent), ..Module::default() };
        if let Some((_, items)) = &item.content {
            module.file = self.list[parent].file;
            self.list.push(module);
            self.list[parent].children.insert(name, id);
            self.items(id, items, &folder);
            return;
        }
        let files = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
        let Some(file) =
            self.sources.iter().position(|source| files.iter().any(|f| f == source.path))
        else {
            return;
        };
        module.file = file;
        self.list.push(module);
        self.list[parent].children.insert(name, id);
        let sources = self.sources;
        self.items(id, &sources[file].syntax.items, &folder);
    }

    /// Collects the paths and words of the tokens in `bytes`.
    fn code(&mut self, module: usize, bytes: std::ops::Range<usize>) {
        let source = &self.sources[self.list[module].file];
        let mut at = token_at(source, bytes.start);
        while let Some(token) = source.tokens.get(at).filter(|t| t.bytes.start < bytes.end) {
            let after_dot = at > 0 && source.tokens[at - 1].is(".");
            if token.kind != Kind::Word || after_dot {
                at += 1;
                continue;
            }
            let in_path = source.followed_by(at, &[":", ":"]);
            if in_path {
                self.list[module].paths.extend(uses::leaves(source, at, false));
                self.list[module].words.insert(token.text.to_owned());
                at = end_of_path(source, at);
            } else {
                self.list[module].words.insert(token.text.to_owned());
                at += 1;
            }
        }
    }

    /// Follows `path`, as it stands in `module`, to what it names inside the crate.
    pub(crate) fn resolve(&self, module: usize, path: &[String]) -> Option<Target> {
        self.in_scope(module, path, DEPTH)
    }

    fn in_scope(&self, module: usize, path: &[String], depth: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.inside(0, rest, depth),
            "self" => self.inside(module, rest, depth),
            "super" => {
                let mut up = self.list[module].parent?;
                let mut rest = rest;
                while let Some((next, more)) = rest.split_first().filter(|(n, _)| *n == "super") {
                    let _ = next;
                    up = self.list[up].parent?;
                    rest = more;
                }
                self.inside(up, rest, depth)
            }
            _ => self.known(module, path, depth),
        }
    }

    /// Looks a path up inside a module; what cannot be told apart belongs to the module's file.
    fn inside(&self, module: usize, path: &[String], depth: usize) -> Option<Target> {
        if path.is_empty() {
            return Some(Target::Module(module));
        }
        // A name the root does not show is an exported macro: no dependency on the root.
        let fallback = (module != 0).then_some(Target::Item(self.list[module].file));
        self.known(module, path, depth).or(fallback)
    }

    fn known(&self, module: usize, path: &[String], depth: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let here = &self.list[module];
        if depth == 0 {
            return None;
        }
        if let Some(child) = here.children.get(first) {
            return self.inside(*child, rest, depth - 1);
        }
        if here.items.contains(first) {
            return Some(Target::Item(here.file));
        }
        let named = here.uses.iter().filter(|leaf| leaf.name.as_deref() == Some(first));
        for leaf in named.filter(|leaf| leaf.path[0] != *first || leaf.path.len() > 1) {
            match self.in_scope(module, &leaf.path, depth - 1) {
                Some(Target::Module(target)) => return self.inside(target, rest, depth - 1),
                Some(item) => return Some(item),
                None => {}
            }
        }
        here.uses.iter().filter(|leaf| leaf.name.is_none()).find_map(|glob| {
            let target = self.in_scope(module, &glob.path, depth - 1)?;
            let Target::Module(target) = target else { return None };
            (target != module).then(|| self.known(target, path, depth - 1)).flatten()
        })
    }
}

/// The index of the first token at or after a byte.
fn token_at(source: &Source<'_>, byte: usize) -> usize {
    source.tokens.partition_point(|token| token.bytes.start < byte)
}

/// The index after the path that starts at `at`, its braces included if it ends in a tree.
fn end_of_path(source: &Source<'_>, at: usize) -> usize {
    let mut here = at + 1;
    while source.tokens.get(here).is_some_and(|token| token.is(":")) {
        let next = here + 2;
        match source.tokens.get(next) {
            Some(token) if token.kind == Kind::Word => here = next + 1,
            Some(token) if token.is("{") => return token.mate + 1,
            _ => return next,
        }
    }
    here
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::ExternCrate(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::ForeignMod(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::TraitAlias(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Union(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn only_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let words = list.tokens.to_string();
        list.path.is_ident("cfg")
            && words.split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
            && !words.contains("not")
            && !words.contains("any")
    })
}

fn name(item: &syn::Item) -> Option<String> {
    Some(match item {
        syn::Item::Const(item) => item.ident.to_string(),
        syn::Item::Enum(item) => item.ident.to_string(),
        syn::Item::Fn(item) => item.sig.ident.to_string(),
        syn::Item::Macro(item) => item.ident.as_ref()?.to_string(),
        syn::Item::Static(item) => item.ident.to_string(),
        syn::Item::Struct(item) => item.ident.to_string(),
        syn::Item::Trait(item) => item.ident.to_string(),
        syn::Item::TraitAlias(item) => item.ident.to_string(),
        syn::Item::Type(item) => item.ident.to_string(),
        syn::Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}
