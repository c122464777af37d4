//! `zarr-kit completions`.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;

use zarr_kit::report::words;

use crate::args::{Args, Completions};
use crate::error::CliError;
use crate::output::print::{Out, note};

const NAME: &str = "zarr-kit";

/// Where in a folder such as `/usr/share` shells look for completions.
const PLACES: [(Shell, &str, &str); 3] = [
    (Shell::Bash, "bash-completion/completions", NAME),
    (Shell::Zsh, "zsh/site-functions", "_zarr-kit"),
    (Shell::Fish, "fish/vendor_completions.d", "zarr-kit.fish"),
];

pub(super) fn run(args: &Completions) -> Result<(), CliError> {
    if let Some(folder) = &args.into {
        return install(folder);
    }
    let Some(shell) = args.shell else { return Ok(()) };
    let mut out = Out::stdout();
    out.raw(&script(shell))?;
    out.finish()
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), NAME, &mut script);
    script
}

fn install(folder: &Path) -> Result<(), CliError> {
    let made = |place: &str| {
        let path = folder.join(place);
        let made = fs::create_dir_all(&path);
        made.map_err(|cause| CliError::File { path: path.clone(), cause })?;
        Ok::<_, CliError>(path)
    };
    for (shell, place, name) in PLACES {
        let path = made(place)?.join(name);
        fs::write(&path, script(shell)).map_err(|cause| CliError::File { path, cause })?;
    }
    let manual = made("man/man1")?;
    let failed = |cause| CliError::File { path: manual.clone(), cause };
    let mut pages = 0_u64;
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    let commands = std::iter::once(&command).chain(command.get_subcommands());
    for command in commands.filter(|command| !command.is_hide_set()) {
        let page = clap_mangen::Man::new(command.clone());
        let mut text = Vec::new();
        page.render(&mut text).map_err(failed)?;
        fs::write(manual.join(page.get_filename()), text).map_err(failed)?;
        pages += 1;
    }
    note(format_args!(
        "wrote {} and the completions of bash, zsh and fish to {}",
        words::counted(pages, "man page"),
        folder.display()
    ));
    Ok(())
}
