//! Do files of one crate import one another in a ring?
//!
//! Nodes are files; an edge means that the code of one uses what the other defines. Declaring a
//! child and passing its names on (`mod`, `pub use`) is no use; using a name that was passed on is.
//! Tests may import anything. A ring is reported once, with one import for each of its steps.

use super::findings::Findings;
use super::modules::{Modules, Target};
use super::source::Source;
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// From file to file, with the line of one import.
type Edges = BTreeMap<usize, BTreeMap<usize, usize>>;

pub(crate) fn check(tree: &Tree, sources: &[Source<'_>], findings: &mut Findings) {
    for (root, source) in sources.iter().enumerate() {
        let Some(package) = tree.package_of(source.path) else { continue };
        let file = &source.path[package.len()..];
        if file != "/src/lib.rs" && file != "/src/main.rs" {
            continue;
        }
        let edges = edges(&Modules::read(sources, root));
        for ring in rings(&edges) {
            report(sources, &edges, &ring, findings);
        }
    }
}

fn edges(modules: &Modules<'_, '_>) -> Edges {
    let mut edges = Edges::new();
    for (id, module) in modules.list.iter().enumerate() {
        let mut add = |target: Option<Target>, glob: bool, line: usize| {
            let to = match target {
                Some(Target::Item(file)) => file,
                // A module brought in by its name is no use yet: its paths are. A glob is.
                Some(Target::Module(target)) if glob => modules.list[target].file,
                _ => return,
            };
            if to != module.file && !modules.sources[to].is_test() {
                edges.entry(module.file).or_default().entry(to).or_insert(line);
            }
        };
        for leaf in &module.uses {
            let used = leaf.name.as_ref().is_some_and(|name| module.words.contains(name));
            if !leaf.public || used {
                add(modules.resolve(id, &leaf.path), leaf.name.is_none(), leaf.line);
            }
        }
        for path in module.paths.iter().filter(|path| path.path.len() > 1) {
            add(modules.resolve(id, &path.path), path.name.is_none(), path.line);
        }
    }
    edges
}

/// One ring for each set of files that reach one another: the shortest through its first file.
fn rings(edges: &Edges) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for start in edges.keys() {
        if seen.contains(start) {
            continue;
        }
        if let Some(ring) = shortest(edges, *start) {
            let back = |file: &usize| reached(edges, *file).contains(start);
            seen.extend(reached(edges, *start).into_iter().filter(back));
            found.push(ring);
        }
    }
    found
}

/// All files that a file depends on, however far away.
fn reached(edges: &Edges, start: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut next = vec![start];
    while let Some(file) = next.pop() {
        let more = edges.get(&file).into_iter().flat_map(BTreeMap::keys);
        next.extend(more.copied().filter(|to| found.insert(*to)));
    }
    found
}

/// The shortest way from a file back to itself.
fn shortest(edges: &Edges, start: usize) -> Option<Vec<usize>> {
    let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(here) = queue.pop_front() {
        for next in edges.get(&here).into_iter().flat_map(BTreeMap::keys) {
            if *next == start {
                let mut ring = vec![here];
                while ring[ring.len() - 1] != start {
                    ring.push(came_from[&ring[ring.len() - 1]]);
                }
                ring.reverse();
                return Some(ring);
            }
            if !came_from.contains_key(next) {
                came_from.insert(*next, here);
                queue.push_back(*next);
            }
        }
    }
    None
}

fn report(sources: &[Source<'_>], edges: &Edges, ring: &[usize], findings: &mut Findings) {
    let steps: Vec<String> = ring
        .iter()
        .enumerate()
        .map(|(n, from)| {
            let to = ring[(n + 1) % ring.len()];
            format!("{}:{} uses {}", sources[*from].path, edges[from][&to], sources[to].path)
        })
        .collect();
    let line = edges[&ring[0]][&ring[1 % ring.len()]];
    let advice = format!("import cycle ({}): move what both need below them", steps.join("; "));
    findings.add(sources[ring[0]].path, line, "import-cycle", advice);
}
