//! Prints results and messages.

use std::fmt::Display;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf, absolute};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::Value;
use zarr_kit::array::store::{Durability, TemporaryFile, without_secrets};
use zarr_kit::metadata::Printable;
use zarr_kit::report::draw::Screen;
use zarr_kit::report::format::pretty::pretty;
use zarr_kit::report::format::quoted::escaped;
use zarr_kit::report::readers::Readers;
use zarr_kit::report::{Table, wrapped};

use crate::error::CliError;
use crate::error::operating_system::without_numbers;
use crate::stores::access;

/// Bytes that are buffered before they are written.
const BUFFER: usize = 1 << 18;

/// Results: standard output, or a file. A file gets its name, and replaces one of that name, when
/// it is complete: a failure leaves what was there, and a kill also a hidden temporary file, which the
/// next command that writes this file removes.
pub(crate) struct Out {
    writer: BufWriter<Box<dyn Write>>,
    /// The file, as it was named.
    file: Option<PathBuf>,
    /// The file until it is complete. Pipes, devices and open files are written at once.
    temporary: Option<TemporaryFile>,
    color: bool,
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Out {
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout();
        let color = stdout_has_color();
        let writer: Box<dyn Write> = Box::new(stdout.lock());
        Self {
            writer: BufWriter::with_capacity(BUFFER, writer),
            file: None,
            temporary: None,
            color,
        }
    }

    pub(crate) fn file(path: &Path) -> Result<Self, CliError> {
        let failed = |cause| CliError::File { path: path.to_owned(), cause };
        let old = match fs::metadata(path) {
            Ok(meta) => Some(meta),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
            Err(cause) => return Err(failed(cause)),
        };
        let is_replaced = old.as_ref().is_none_or(Metadata::is_file);
        let target = is_replaced.then(|| followed(path)).flatten();
        let temporary = match target {
            None => None,
            Some(target) => {
                // Its folder has a name then.
                let target = absolute(target).map_err(failed)?;
                if old.is_some() {
                    // A file that may not be written to is not replaced either.
                    OpenOptions::new().write(true).open(&target).map_err(failed)?;
                }
                // The system refuses a new file in the folder, not this one.
                let in_folder = |cause| match (old.is_some(), target.parent()) {
                    (true, Some(folder)) => CliError::File { path: folder.to_owned(), cause },
                    _ => failed(cause),
                };
                let temporary = TemporaryFile::beside(&target).map_err(in_folder)?;
                // What killed commands have left takes space, but hinders none.
                let _stays = TemporaryFile::clean_beside(&target, Some(&temporary), &mut |_| {});
                Some(temporary)
            }
        };
        let file = match &temporary {
            None => File::create(path),
            Some(temporary) => temporary.file().try_clone(),
        };
        let writer: Box<dyn Write> = Box::new(file.map_err(failed)?);
        let writer = BufWriter::with_capacity(BUFFER, writer);
        Ok(Self { writer, file: Some(path.to_owned()), temporary, color: false })
    }

    pub(crate) fn to(path: Option<&Path>) -> Result<Self, CliError> {
        match path {
            Some(path) if path != Path::new("-") => Self::file(path),
            _ => Ok(Self::stdout()),
        }
    }

    /// Writes bytes as they are: raw elements, `.npy`, PNG and shell scripts, which programs read, and
    /// pictures, which have styles and escape their names. Text that may come from a document goes
    /// through [`line`](Self::line), [`elements`](Self::elements) or [`json`](Self::json).
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.writer.write_all(bytes).map_err(|cause| self.failed(cause))
    }

    /// Writes the text of elements: JSON in lines, with names of fields from a document. Other
    /// characters than line breaks that do not print are escaped as in JSON.
    pub(crate) fn elements(&mut self, text: &str) -> Result<(), CliError> {
        // Almost always, since elements escape themselves.
        let is_plain = |byte: u8| byte == b'\n' || (b' '..0x7f).contains(&byte);
        match text.bytes().all(is_plain) {
            true => self.raw(text.as_bytes()),
            false => self.raw(escaped(text).as_bytes()),
        }
    }

    /// Writes one line of text, escaped: everything except numbers comes from stores and
    /// arguments.
    pub(crate) fn line(&mut self, line: impl Display) -> Result<(), CliError> {
        self.styled(Style::new(), "", line)
    }

    /// Writes a line with a style at its beginning if the output may be coloured.
    pub(crate) fn styled(
        &mut self,
        style: Style,
        start: impl Display,
        rest: impl Display,
    ) -> Result<(), CliError> {
        let style = if self.color { style } else { Style::new() };
        let (start, rest) = (Printable(start), Printable(rest));
        writeln!(self.writer, "{style}{start}{style:#}{rest}").map_err(|cause| self.failed(cause))
    }

    /// Writes a document over several lines.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> Result<(), CliError> {
        let text =
            serde_json::to_string(document).map_err(|cause| CliError::Output(cause.into()))?;
        let mut text = pretty(&text);
        text.push('\n');
        self.elements(&text)
    }

    /// Writes a part of a document with items that are written separately.
    pub(crate) fn json_part(&mut self, part: impl Display) -> Result<(), CliError> {
        self.elements(&part.to_string())
    }

    /// Writes the buffer, so that the output so far is visible.
    pub(crate) fn flush(&mut self) -> Result<(), CliError> {
        self.writer.flush().map_err(|cause| self.failed(cause))
    }

    /// Writes the rest; without this call a file does not get its name.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        self.writer.flush().map_err(|cause| self.failed(cause))?;
        let installed = self.temporary.take().map(|file| file.install(Durability::ProcessEnd));
        installed.unwrap_or(Ok(())).map_err(|cause| self.failed(cause))
    }

    pub(crate) fn failed(&self, cause: io::Error) -> CliError {
        match &self.file {
            Some(path) => CliError::File { path: path.clone(), cause },
            None => CliError::Output(cause),
        }
    }
}

/// The most links that lead from one to the next, as on Linux.
const LINKS: usize = 40;

/// The path that a path leads to, which may not exist; none if it is a name of a file that is open:
/// that one is written to.
fn followed(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if ["/proc", "/dev/fd"].iter().any(|open| path.starts_with(open)) {
            return None;
        }
        let Ok(next) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    Some(path)
}

/// Prints one line on standard error, with a red label on a terminal.
pub(crate) fn error(message: &str) {
    let red = AnsiColor::Red.on_default().bold();
    let message = without_numbers(&shown(message));
    // No reader is left for a message.
    let _closed = writeln!(anstream::stderr(), "{red}error:{red:#} {message}");
}

/// Says on standard error who reads arrays, unless all do.
pub(crate) fn readers(readers: &Readers, json: bool) {
    if !json && !readers.are_all() {
        note(format_args!("read by {}", readers.line()));
    }
}

/// Prints a message on standard error, in one line, unless the call is quiet.
pub(crate) fn note(message: impl Display) {
    if access::is_quiet() {
        return;
    }
    let _closed = writeln!(anstream::stderr(), "{}", shown(&message.to_string()));
}

/// Prints a question on standard error, and leaves the cursor behind it.
pub(crate) fn question(text: impl Display) -> io::Result<()> {
    let mut stderr = anstream::stderr();
    write!(stderr, "{} ", shown(&text.to_string()))?;
    stderr.flush()
}

/// A message in one line, without characters that control a terminal, and without the secrets of
/// URLs.
fn shown(message: &str) -> String {
    Printable(without_secrets(message)).to_string()
}

/// Reports the result of a command: a line on standard error, or one JSON document on standard
/// output.
pub(crate) fn done(
    json: bool,
    message: impl Display,
    document: impl FnOnce() -> Value,
) -> Result<(), CliError> {
    match json {
        true => self::json(&document()),
        false => {
            note(message);
            Ok(())
        }
    }
}

/// Prints a result that is a JSON document.
pub(crate) fn json(document: &impl Serialize) -> Result<(), CliError> {
    let mut out = Out::stdout();
    out.json(document)?;
    out.finish()
}

fn stdout_has_color() -> bool {
    !matches!(AutoStream::choice(&io::stdout()), ColorChoice::Never)
}

/// Whether raw bytes would go to a terminal.
pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// The least characters of a value per line, however narrow the terminal is.
const NARROWEST: usize = 24;

/// The style of names.
pub(crate) const LABEL: Style = Style::new().bold();

/// A command whose exit status tells what it found goes on if the reader has closed the pipe.
pub(crate) fn unless_closed(printed: Result<(), CliError>) -> Result<(), CliError> {
    printed.or_else(|error| if error.is_broken_pipe() { Ok(()) } else { Err(error) })
}

/// Prints a table: names in bold, long values on several lines on a terminal.
pub(crate) fn print_table(table: &Table, out: &mut Out) -> Result<(), CliError> {
    let width = table.width();
    let room = room_after(width + 2);
    for (name, value) in table.rows() {
        let padding = width.saturating_sub(name.chars().count());
        let mut lines = wrapped(value, room).into_iter();
        let first = lines.next().unwrap_or_default();
        let style = if name.starts_with(' ') { Style::new() } else { LABEL };
        out.styled(style, name, format!("{:padding$}  {first}", "").trim_end())?;
        for line in lines {
            out.line(format_args!("{:width$}  {line}", ""))?;
        }
    }
    Ok(())
}

/// The abilities of standard output.
pub(crate) fn screen() -> Screen {
    let says = std::env::var("COLORTERM").unwrap_or_default();
    Screen {
        columns: columns(),
        color: stdout_has_color(),
        true_color: says == "truecolor" || says == "24bit",
    }
}

/// Characters per line if neither the terminal nor `COLUMNS` tells.
const COLUMNS: usize = 80;

/// The width of a picture: the terminal's, or `COLUMNS`.
pub(crate) fn columns() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let terminal = || {
        let size = stdout_is_terminal().then(terminal_size::terminal_size).flatten();
        size.map(|(columns, _)| usize::from(columns.0))
    };
    said.filter(|columns| *columns > 0).or_else(terminal).unwrap_or(COLUMNS)
}

/// The number of characters left in a line of the terminal; unlimited in a pipe: its reader wants
/// one line per row.
pub(crate) fn room_after(used: usize) -> usize {
    match stdout_is_terminal() {
        true => columns().saturating_sub(used).max(NARROWEST),
        false => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::escaped;

    #[test]
    fn json_is_the_same_document_and_drives_no_terminal() {
        let document = json!({"a\u{202e}b": ["\u{9b}31m", "\u{7f}\n\u{1b}", "\u{e0041}", "é"]});
        let text = escaped(&document.to_string());
        assert_eq!(text, r#"{"a\u202eb":["\u009b31m","\u007f\n\u001b","\udb40\udc41","é"]}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(document));
    }
}
