//! May we use every package we depend on?
//!
//! Each package that cargo would build must state a licence expression that can be met from the
//! list below: permissive licences that fit a project under MIT or Apache-2.0.

use super::edges::array;
use super::findings::Findings;
use super::spdx;
use serde_json::Value;

const ALLOWED: [&str; 12] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "0BSD",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
];

pub(crate) fn check(metadata: &Value, findings: &mut Findings) {
    let resolved: Vec<&str> =
        array(&metadata["resolve"]["nodes"]).filter_map(|node| node["id"].as_str()).collect();
    for package in array(&metadata["packages"]) {
        if !package["id"].as_str().is_some_and(|id| resolved.contains(&id)) {
            continue;
        }
        let name = package["name"].as_str().unwrap_or_default();
        let version = package["version"].as_str().unwrap_or_default();
        let licence = package["license"].as_str();
        let problem = match licence.map(|licence| spdx::satisfied(licence, &ALLOWED)) {
            Some(Ok(true)) => continue,
            Some(Ok(false)) => format!("is under {}", licence.unwrap_or_default()),
            Some(Err(error)) => format!("states a licence that cannot be read: {error}"),
            None => "states no licence expression".to_owned(),
        };
        let advice = format!("{name} {version} {problem}: replace it");
        findings.add("Cargo.lock", 1, "licence", advice);
    }
}
