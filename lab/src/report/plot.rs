//! One case as a chart: a bar for each contender's median, a line from its least to its greatest.

use super::{Row, Section, number};
use plotters::prelude::*;

const WIDTH: u32 = 860;
const BAR: u32 = 26;
const NAMES: i32 = 150;
const RIGHT: i32 = 110;

/// The chart as SVG text, or nothing when no contender has a figure to show.
pub(super) fn chart(section: &Section) -> Result<String, String> {
    let rows: Vec<&Row> = section.rows.iter().filter(|row| row.check == "ok").collect();
    let greatest = rows.iter().map(|row| row.max).fold(0.0, f64::max);
    if greatest <= 0.0 {
        return Ok(String::new());
    }
    let mut svg = String::new();
    let size = (WIDTH, BAR * rows.len() as u32 + 8);
    let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    let scale = f64::from(WIDTH as i32 - NAMES - RIGHT) / greatest;
    for (place, row) in rows.iter().enumerate() {
        let top = 4 + place as i32 * BAR as i32;
        bar(&root, row, top, scale).map_err(|error| error.to_string())?;
    }
    root.present().map_err(|error| error.to_string())?;
    drop(root);
    Ok(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Failure<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

fn bar<'a>(root: &Area<'a>, row: &Row, top: i32, scale: f64) -> Result<(), Failure<'a>> {
    let height = BAR as i32 - 6;
    let at = |value: f64| NAMES + (value * scale).round() as i32;
    let ours = row.contender.starts_with("raddle");
    let colour = if ours { RGBColor(200, 80, 30) } else { RGBColor(110, 140, 170) };
    let style = ("sans-serif", 13).into_font();
    root.draw(&Text::new(row.contender.clone(), (4, top + 4), style.clone()))?;
    let corners = [(NAMES, top), (at(row.median).max(NAMES + 1), top + height)];
    root.draw(&Rectangle::new(corners, colour.filled()))?;
    let middle = top + height / 2;
    let range = vec![(at(row.min), middle), (at(row.max), middle)];
    root.draw(&PathElement::new(range, BLACK.stroke_width(2)))?;
    root.draw(&Text::new(number(row.median), (at(row.max) + 8, top + 4), style))
}
