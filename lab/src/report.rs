//! What `run` leaves behind: a table for the terminal, JSON, and one HTML page.

mod html;
mod plot;

pub(crate) use html::page;

use crate::machine::Machine;
use serde::Serialize;

/// One contender in one case.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) contender: String,
    /// Median, least and greatest of the samples' values.
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) samples: usize,
    /// `ok`, or the first mismatch.
    pub(crate) check: String,
    /// Medians of the samples' figures.
    pub(crate) figures: crate::outcome::Figures,
}

/// One case with all who took part.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Section {
    pub(crate) case: String,
    pub(crate) unit: String,
    pub(crate) about: String,
    pub(crate) rows: Vec<Row>,
}

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) machine: Machine,
    pub(crate) smoke: bool,
    pub(crate) sections: Vec<Section>,
}

impl Results {
    /// How many contenders in how many cases failed a check.
    pub(crate) fn failures(&self) -> usize {
        let rows = self.sections.iter().flat_map(|section| &section.rows);
        rows.filter(|row| row.check != "ok").count()
    }
}

impl Section {
    /// The row that others are compared with: raddle if it takes part, else the first.
    pub(crate) fn reference(&self) -> Option<&Row> {
        let ok = |row: &&Row| row.check == "ok" && row.median > 0.0;
        let raddle = self.rows.iter().filter(ok).find(|row| row.contender == "raddle");
        raddle.or_else(|| self.rows.iter().find(ok))
    }
}

/// A number with as many digits as matter.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        a if a >= 1e6 => format!("{:.2}M", value / 1e6),
        a if a >= 1e4 => format!("{:.1}k", value / 1e3),
        a if a >= 100.0 => format!("{value:.0}"),
        a if a >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The table for the terminal.
pub(crate) fn table(results: &Results) -> String {
    let mut text = String::new();
    for section in &results.sections {
        text += &format!("\n{} ({}): {}\n", section.case, section.unit, section.about);
        let reference = section.reference();
        for row in &section.rows {
            text += &line(row, reference);
        }
    }
    text
}

fn line(row: &Row, reference: Option<&Row>) -> String {
    if row.check != "ok" {
        return format!("  {:<20} FAILED: {}\n", row.contender, row.check);
    }
    let ratio = match reference {
        Some(reference) if row.median > 0.0 => {
            format!("{:>7.3} × {}", row.median / reference.median, reference.contender)
        }
        _ => String::new(),
    };
    let range = format!("{} to {}", number(row.min), number(row.max));
    format!("  {:<20} {:>9}  {:<18} {ratio}\n", row.contender, number(row.median), range)
}

#[cfg(test)]
mod tests;
