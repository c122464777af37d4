//! The commands: each reads its arguments, calls the library and prints.

mod completions;
mod copy;
mod elements;
pub(crate) mod inspect;
mod join;
mod nodes;
mod rearrange;

use self::elements::{append, read, write};
use self::inspect::{advise, check, diff, draw, info, locate, plan, stats, tree};
use self::nodes::{attrs, consolidate, create, delete, export, resize};
use crate::args::Command;
use crate::error::CliError;

/// Runs a command; returns the exit status.
pub(crate) fn run(command: Command) -> Result<u8, CliError> {
    match command {
        Command::Info(args) => info::run(&args)?,
        Command::Read(args) => read::run(&args)?,
        Command::Write(args) => write::run(&args)?,
        Command::Create(args) => create::run(&args)?,
        Command::Copy(args) => copy::run(&args)?,
        Command::Join(args) => join::run(&args)?,
        Command::Check(args) => return check::run(&args),
        Command::Locate(args) => locate::run(&args)?,
        Command::Plan(args) => plan::run(&args)?,
        Command::Draw(args) => draw::run(&args)?,
        Command::Stats(args) => stats::run(&args)?,
        Command::Advise(args) => advise::run(&args)?,
        Command::Diff(args) => return diff::run(&args),
        Command::Resize(args) => resize::run(&args)?,
        Command::Append(args) if args.more.is_empty() => append::run(&args)?,
        Command::Append(args) => rearrange::append(&args)?,
        Command::Rearrange(args) => rearrange::run(&args)?,
        Command::Tree(args) => tree::run(&args)?,
        Command::Attrs(args) => attrs::run(&args)?,
        Command::Consolidate(args) => consolidate::run(&args)?,
        Command::Export(args) => export::run(&args)?,
        Command::Delete(args) => delete::run(&args)?,
        Command::Completions(args) => completions::run(&args)?,
    }
    Ok(0)
}
