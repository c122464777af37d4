//! Mistakes in the arguments, as one line of our own: the argument, the allowed values, and a
//! suggestion.

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::{Args, NoValue};
use crate::error::CliError;
use crate::error::nearest;

/// A mistake in the arguments, from clap's error.
pub(crate) fn wrong(error: &clap::Error, arguments: &[String]) -> CliError {
    let message = message(error, arguments).unwrap_or_else(|| clap_says(error));
    // A message that ends in a question gets no further text.
    CliError::Usage {
        message: match message.ends_with('?') {
            true => message,
            false => format!("{message}; see {} --help", command(arguments)),
        },
    }
}

/// Clap's own message, in one line.
fn clap_says(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut message = String::new();
    for line in lines {
        if line.starts_with("Usage: ") || line.starts_with("For more information") {
            break;
        }
        let line = line.strip_prefix("error: ").unwrap_or(line);
        let joint = match (message.is_empty(), message.ends_with(':')) {
            (true, _) => "",
            (false, true) => " ",
            (false, false) => "; ",
        };
        message.push_str(joint);
        message.push_str(line);
    }
    message
}

/// The command with the help that explains more: the given one, if it exists.
fn command(arguments: &[String]) -> String {
    match arguments.first() {
        Some(given) if commands().contains(given) => format!("zarr-kit {given}"),
        _ => "zarr-kit".to_owned(),
    }
}

fn commands() -> Vec<String> {
    Args::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// `None` for mistakes that clap's own message explains well enough.
fn message(error: &clap::Error, arguments: &[String]) -> Option<String> {
    let one = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    };
    let several = |kind| match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    };
    Some(match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let written = one(ContextKind::InvalidSubcommand)?;
            let commands = commands();
            let hint = nearest::hint(&written, commands.iter().map(String::as_str));
            format!("there is no command {written:?}{hint}")
        }
        ErrorKind::UnknownArgument => {
            let written = one(ContextKind::InvalidArg)?;
            if let Some(option) = without_value(arguments, &written) {
                return Some(format!("{option} needs a value"));
            }
            let hint = match (written.as_str(), one(ContextKind::SuggestedArg)) {
                ("--nearest", _) => "; ~ before a label takes the nearest: lat=~51.3".to_owned(),
                (_, Some(near)) => format!("; did you mean {near}?"),
                (_, None) => String::new(),
            };
            match written.starts_with('-') {
                true => format!("there is no option {written}{hint}"),
                false => format!("{written:?} is one argument too many{hint}"),
            }
        }
        ErrorKind::InvalidValue => {
            let written = one(ContextKind::InvalidValue)?;
            let argument = one(ContextKind::InvalidArg)?;
            let allowed = several(ContextKind::ValidValue);
            if written.is_empty() {
                let allowed = match allowed.is_empty() {
                    true => String::new(),
                    false => format!(": one of {}", allowed.join(", ")),
                };
                return Some(format!("{} needs a value{allowed}", bare(&argument)));
            }
            let hint = nearest::hint(&written, allowed.iter().map(String::as_str));
            let allowed = allowed.join(", ");
            format!("{} {written:?}: one of {allowed} is allowed{hint}", bare(&argument))
        }
        ErrorKind::ValueValidation => {
            let written = one(ContextKind::InvalidValue)?;
            let argument = one(ContextKind::InvalidArg)?;
            let reason = std::error::Error::source(error)?;
            match reason.is::<NoValue>() {
                true => format!("{} {reason}", bare(&argument)),
                false => format!("{} {written:?}: {reason}", bare(&argument)),
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = several(ContextKind::InvalidArg);
            let missing: Vec<String> =
                missing.into_iter().map(|argument| or_another(arguments, argument)).collect();
            format!("missing: {}", missing.join(", "))
        }
        ErrorKind::ArgumentConflict => {
            let argument = one(ContextKind::InvalidArg)?;
            let others: Vec<String> =
                several(ContextKind::PriorArg).iter().map(|other| bare(other).to_owned()).collect();
            match others.as_slice() {
                [other] if other == bare(&argument) => format!("{other} is given twice"),
                others => {
                    format!("{} cannot be combined with {}", bare(&argument), others.join(", "))
                }
            }
        }
        _ => return None,
    })
}

/// Arguments of commands that others can take the place of.
const OR: [(&str, &str, &str); 4] = [
    ("completions", "<SHELL>", "--into"),
    ("create", "--dtype", "--like, --metadata or --group"),
    ("join", "--along", "--new-axis"),
    ("rearrange", "--remove", "--order or --insert"),
];

/// A missing argument, with its alternatives.
fn or_another(arguments: &[String], missing: String) -> String {
    let given = arguments.first().map(String::as_str).unwrap_or_default();
    let found = OR.iter().find(|(command, argument, _)| {
        *command == given && bare(missing.trim_start_matches('[')) == *argument
    });
    match found {
        Some((_, _, others)) => format!("{missing} (or {others})"),
        None => missing,
    }
}

/// The option without a value: it took the next option as its value, and so this argument, the
/// value of that option, is one too many.
fn without_value<'a>(arguments: &'a [String], too_many: &str) -> Option<&'a str> {
    let args = Args::command();
    let command = args.find_subcommand(arguments.first()?)?;
    let takes_value = |option: &str| {
        command.get_arguments().any(|argument| {
            let long = argument.get_long().map(|long| format!("--{long}"));
            let short = argument.get_short().map(|short| format!("-{short}"));
            argument.get_action().takes_values()
                && [long, short].iter().any(|name| name.as_deref() == Some(option))
        })
    };
    let at = arguments.iter().position(|argument| argument == too_many)?;
    let [.., option, next] = arguments.get(..at)? else { return None };
    (takes_value(option) && takes_value(next)).then_some(option.as_str())
}

/// Turns `--format <FORMAT>` into `--format`.
fn bare(argument: &str) -> &str {
    argument.split(' ').next().unwrap_or(argument)
}
