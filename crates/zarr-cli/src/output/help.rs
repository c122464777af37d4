//! The help that is printed.

use clap::{Arg, Command, CommandFactory as _};

use crate::args::{Args, GLOBAL};

/// Examples come before the options.
const HELP: &str = "\
{about-with-newline}
{usage-heading} {usage}{after-help}

{all-args}

Options of all commands: `zarr-kit --help`";

/// The program with the help that it prints: of a command without the options of all commands.
pub(crate) fn program() -> Command {
    let mut program = Args::command();
    program.build();
    let own = |arg: Arg| match arg.get_help_heading() == Some(GLOBAL) {
        true => arg.hide(true),
        false => arg,
    };
    program.mut_subcommands(|command| command.help_template(HELP).mut_args(own))
}
