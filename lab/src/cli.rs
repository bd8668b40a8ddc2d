//! The command line: `list`, `one`, `compare`, `run`, `bars`.

use crate::stats::RESAMPLES;
use crate::{bars, cases, compare, contenders, load, one, plan::Plan, run};
use clap::{Args, Parser, Subcommand};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Paired benchmarks of raddle against its peers.
#[derive(Debug, Parser)]
#[command(name = "raddle-lab", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows cases, contenders, and who takes part where.
    List,
    /// Makes one sample in this process and prints it as a line of JSON.
    One {
        /// Which case; `raddle-lab list` shows them.
        case: String,
        /// By whom; `raddle-lab list` shows who takes part.
        contender: String,
        /// Tiny parameters: for counts, not for times.
        #[arg(long)]
        smoke: bool,
        /// One untimed and one timed round of so many units: for counting instructions.
        #[arg(long)]
        exactly: Option<u64>,
    },
    /// Compares two contenders in one case by interleaved processes.
    Compare(Compare),
    /// Runs everybody in every case.
    Run(Run),
    /// Measures every bar and prints a table in Markdown.
    Bars {
        /// Only bars of cases whose name matches.
        #[arg(long, default_value = "*")]
        case: String,
        /// Writes the table to a file too.
        #[arg(long)]
        file: Option<PathBuf>,
        /// Tiny parameters: for trying the command.
        #[arg(long)]
        smoke: bool,
    },
    /// The load generator's process; started by the network cases.
    #[command(hide = true)]
    Load { arguments: Vec<String> },
}

#[derive(Debug, Args)]
struct Compare {
    /// Which case; `raddle-lab list` shows them.
    case: String,
    /// The contender whose figure is divided.
    a: String,
    /// The contender it is divided by.
    b: String,
    /// The case that B runs, if it is not the same.
    #[arg(long, value_name = "CASE")]
    b_case: Option<String>,
    /// Compares this figure instead of the value.
    #[arg(long)]
    figure: Option<String>,
    /// More is better in this figure: the ratio is of B to A.
    #[arg(long)]
    higher: bool,
    /// How many pairs: an even number, and at least 6, since fewer have no interval.
    #[arg(long, default_value_t = 30, conflicts_with = "until")]
    pairs: usize,
    /// Looks every 30 pairs until the interval lies on one side of this ratio, or 300 pairs.
    #[arg(long, value_parser = ratio)]
    until: Option<f64>,
    /// Writes the result as JSON; `-` is standard output, which then holds nothing else.
    #[arg(long)]
    json: Option<String>,
    /// Decides the order of the blocks and the resampling.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Tiny parameters: for trying the command.
    #[arg(long)]
    smoke: bool,
}

#[derive(Debug, Args)]
struct Run {
    /// Only cases whose name matches; `*` and `?` stand for anything.
    #[arg(long, default_value = "*")]
    case: String,
    /// Tiny parameters, one sample: terminates quickly and checks every count.
    #[arg(long)]
    smoke: bool,
    /// Samples of each contender in each case.
    #[arg(long, default_value_t = 5)]
    samples: usize,
    /// Writes all results as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Writes a page with plots and the machine's description.
    #[arg(long)]
    html: Option<PathBuf>,
}

fn ratio(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ratio) if ratio.is_finite() && ratio > 0.0 => Ok(ratio),
        _ => Err("a ratio is a number above 0".to_owned()),
    }
}

/// Reads the command line and does what it says.
pub(crate) fn main() -> ExitCode {
    let command = Cli::parse().command;
    if raddle_base::hooks::ENABLED {
        eprintln!("built with raddle-base's feature test-hooks: figures would mean nothing");
        return ExitCode::from(2);
    }
    match command {
        Command::List => list(),
        Command::One { case, contender, smoke, exactly } => {
            one::main(&case, &contender, Plan { smoke, exactly })
        }
        Command::Compare(arguments) => compare::main(&arguments.into_request()),
        Command::Run(arguments) => run::main(&arguments.into_request()),
        Command::Bars { case, file, smoke } => bars::main(&case, smoke, file.as_deref()),
        Command::Load { arguments } => load::main(&arguments),
    }
}

impl Compare {
    fn into_request(self) -> compare::Request {
        compare::Request {
            stop: self.until.map_or(compare::Stop::Pairs(self.pairs), compare::Stop::Until),
            case: self.case,
            a: self.a,
            b: self.b,
            b_case: self.b_case,
            figure: self.figure,
            higher: self.higher,
            seed: self.seed,
            resamples: RESAMPLES,
            smoke: self.smoke,
            json: self.json,
        }
    }
}

impl Run {
    fn into_request(self) -> run::Request {
        run::Request {
            glob: self.case,
            smoke: self.smoke,
            samples: self.samples,
            json: self.json,
            html: self.html,
        }
    }
}

fn list() -> ExitCode {
    // What the list is piped into may close early, as `head` does: no failure.
    let _ = write_list(&mut io::stdout().lock());
    ExitCode::SUCCESS
}

fn write_list(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "contenders:")?;
    for contender in contenders::ALL {
        writeln!(out, "  {:<20} {}", contender.name, contender.about)?;
    }
    writeln!(out, "cases:")?;
    for case in cases::CASES {
        writeln!(out, "  {:<20} {:<8} {}", case.name, case.unit, case.about)?;
        let takers = contenders::ALL.iter().filter(|contender| contender.takes(case.name));
        let names: Vec<&str> = takers.map(|contender| contender.name).collect();
        writeln!(out, "  {:<20} {:<8} by {}", "", "", names.join(" "))?;
    }
    Ok(())
}
