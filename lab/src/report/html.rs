//! The page: machine, plots and tables in one file that loads nothing.

use super::{Results, Row, Section, number, plot};

const STYLE: &str = "body{font:15px sans-serif;max-width:900px;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse;margin:.5em 0 2em}td,th{padding:.2em .8em;text-align:right}\
td:first-child,th:first-child{text-align:left}tr:nth-child(even){background:#f3f3f3}\
.failed{color:#b00}svg{max-width:100%}";

/// The whole page.
pub(crate) fn page(results: &Results) -> Result<String, String> {
    let machine = &results.machine;
    let facts = [
        ("CPU", machine.cpu.clone()),
        ("cores", machine.cores.to_string()),
        ("kernel", machine.kernel.clone()),
        ("compiler", machine.rustc.clone()),
        ("commit", machine.commit.clone()),
        ("load average at the start", machine.load.clone()),
    ];
    let mut body = String::from("<h1>raddle-lab</h1>\n<table>");
    for (name, value) in facts {
        body += &format!("<tr><td>{name}</td><td>{}</td></tr>\n", escape(&value));
    }
    body += "</table>\n";
    if results.smoke {
        body += "<p class=failed>A smoke run: counts were checked, times mean nothing.</p>\n";
    }
    body += "<p>Bars are medians of the samples, lines reach from the least to the greatest. \
             Ratios are of medians; for a ratio with its interval use <code>compare</code>.</p>\n";
    for section in &results.sections {
        body += &chapter(section)?;
    }
    Ok(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>raddle-lab</title>\
         <style>{STYLE}</style><body>\n{body}</body></html>\n"
    ))
}

fn chapter(section: &Section) -> Result<String, String> {
    let mut text = format!(
        "<h2>{}</h2>\n<p>{} ({})</p>\n{}<table><tr><th>contender</th><th>median</th>\
         <th>least</th><th>greatest</th><th>samples</th><th>ratio</th></tr>\n",
        escape(&section.case),
        escape(&section.about),
        escape(&section.unit),
        plot::chart(section)?,
    );
    for row in &section.rows {
        text += &table_row(row, section.reference());
    }
    text += "</table>\n";
    Ok(text)
}

fn table_row(row: &Row, reference: Option<&Row>) -> String {
    let name = escape(&row.contender);
    if row.check != "ok" {
        let check = escape(&row.check);
        return format!("<tr><td>{name}</td><td class=failed colspan=5>{check}</td></tr>\n");
    }
    let ratio = reference.map_or(String::new(), |reference| {
        format!("{:.3} × {}", row.median / reference.median, escape(&reference.contender))
    });
    format!(
        "<tr><td>{name}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{ratio}</td></tr>\n",
        number(row.median),
        number(row.min),
        number(row.max),
        row.samples,
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
