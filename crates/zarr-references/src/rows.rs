//! A file of references in the form of a table: `refs.N.parq`, with the columns `path`, `offset`,
//! `size` and `raw`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::file::Reference;
use super::pages;

/// The rows of a file with a reference, each with its number, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rows {
    /// The number of all rows.
    pub(super) count: u64,
    found: Vec<(u32, Reference)>,
}

impl Rows {
    /// The target of a row; `None` for an absent chunk.
    pub(super) fn get(&self, row: u64) -> Option<&Reference> {
        let row = u32::try_from(row).ok()?;
        let at = self.found.binary_search_by_key(&row, |(own, _)| *own).ok()?;
        self.found.get(at).map(|(_, reference)| reference)
    }

    /// The numbers of the rows with a reference.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.found.iter().map(|(row, _)| u64::from(*row))
    }

    /// About the bytes of memory that they take.
    pub(super) fn memory(&self) -> usize {
        let inline = self.found.iter().map(|(_, reference)| match reference {
            Reference::Inline(bytes) => bytes.len(),
            Reference::Whole(_) | Reference::Part { .. } => 0,
        });
        let rows = self.found.len().saturating_mul(size_of::<(u32, Reference)>());
        inline.fold(rows, usize::saturating_add)
    }

    /// Reads a file, which has at most `limit` rows. `target` gives the number of a path or URL.
    pub(super) fn read(
        file: Vec<u8>,
        limit: u64,
        target: &mut dyn FnMut(&str) -> usize,
    ) -> Result<Self, String> {
        // The reader returns errors for damage that it finds, but it also has assertions.
        catch_unwind(AssertUnwindSafe(|| Self::parse(Bytes::from(file), limit, target)))
            .unwrap_or_else(|_| Err("it is damaged".to_owned()))
    }

    fn parse(
        file: Bytes,
        limit: u64,
        target: &mut dyn FnMut(&str) -> usize,
    ) -> Result<Self, String> {
        let reader = SerializedFileReader::new(file.clone())
            .map_err(|error| format!("it is not a parquet file: {error}"))?;
        let metadata = reader.metadata();
        let count = u64::try_from(metadata.file_metadata().num_rows()).ok();
        let mut groups = metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()));
        let sum = groups.try_fold(0_u64, |sum, rows| sum.checked_add(rows.ok()?));
        let count = count.filter(|count| sum == Some(*count));
        let count = count.ok_or("its number of rows differs from its row groups")?;
        if count > limit {
            return Err(format!("it has {count} rows, and record_size is {limit}"));
        }
        let mut rows = Self { count, found: Vec::new() };
        let mut start = 0_u64;
        for (number, group) in metadata.row_groups().iter().enumerate() {
            check(&file, group)?;
            let reader = reader.get_row_group(number).map_err(damaged)?;
            let read = Group { metadata: group, reader: &*reader };
            for (row, reference) in read.references(target)? {
                let row = u32::try_from(start.saturating_add(row)).map_err(|_| "too many rows")?;
                rows.found.push((row, reference));
            }
            start = start.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
        }
        Ok(rows)
    }
}

fn damaged(error: ParquetError) -> String {
    format!("it is damaged: {error}")
}

/// Checks where the columns of a row group lie, and the sizes of their pages.
fn check(file: &[u8], group: &RowGroupMetaData) -> Result<(), String> {
    for column in group.columns() {
        let name = column.column_path().string();
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let range = usize::try_from(start).ok().and_then(|start| {
            let length = usize::try_from(column.compressed_size()).ok()?;
            Some(start..start.checked_add(length)?)
        });
        let bytes = range.and_then(|range| file.get(range));
        let bytes = bytes.ok_or_else(|| format!("its column {name:?} ends past the file"))?;
        if column.num_values() != group.num_rows() {
            return Err(format!(
                "its column {name:?} has {} values for {} rows",
                column.num_values(),
                group.num_rows()
            ));
        }
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        pages::check(bytes, rows).map_err(|reason| format!("its column {name:?} has {reason}"))?;
    }
    Ok(())
}

/// A row group; its columns are read one after the other.
struct Group<'a> {
    metadata: &'a RowGroupMetaData,
    reader: &'a dyn RowGroupReader,
}

impl Group<'_> {
    /// The references of its rows, in order.
    fn references(
        &self,
        target: &mut dyn FnMut(&str) -> usize,
    ) -> Result<Vec<(u64, Reference)>, String> {
        let mut paths: Vec<(u64, usize)> = Vec::new();
        self.texts("path", |row, path| {
            let path = std::str::from_utf8(path)
                .map_err(|_| format!("its path in row {row} is not UTF-8"))?;
            paths.push((row, target(path)));
            Ok(())
        })?;
        let offsets = self.numbers("offset")?;
        let sizes = self.numbers("size")?;
        let mut inline: Vec<(u64, Arc<[u8]>)> = Vec::new();
        self.texts("raw", |row, bytes| {
            inline.push((row, bytes.into()));
            Ok(())
        })?;
        let mut inline = inline.into_iter().peekable();
        let mut found = Vec::new();
        for (row, target) in paths {
            found.extend(std::iter::from_fn(|| {
                inline
                    .next_if(|(own, _)| *own < row)
                    .map(|(own, raw)| (own, Reference::Inline(raw)))
            }));
            // Where there are both, the bytes count, as for the programs that write this form.
            if let Some((_, raw)) = inline.next_if(|(own, _)| *own == row) {
                found.push((row, Reference::Inline(raw)));
                continue;
            }
            let number = |values: &[(u64, i64)], name: &str| -> Result<u64, String> {
                let at = values.binary_search_by_key(&row, |(own, _)| *own).ok();
                let value = at.and_then(|at| values.get(at)).map_or(0, |(_, value)| *value);
                u64::try_from(value).map_err(|_| format!("its {name} in row {row} is {value}"))
            };
            let (offset, len) = (number(&offsets, "offset")?, number(&sizes, "size")?);
            if offset.checked_add(len).is_none() {
                return Err(format!("its reference in row {row} ends past what 64 bits can count"));
            }
            // That is how a reference without offset and size is written.
            let reference = match (offset, len) {
                (0, 0) => Reference::Whole(target),
                _ => Reference::Part { target, offset, len },
            };
            found.push((row, reference));
        }
        found.extend(inline.map(|(row, raw)| (row, Reference::Inline(raw))));
        Ok(found)
    }

    /// The number of a column, which may be missing, and its metadata.
    fn column(&self, name: &str) -> Option<(usize, &ColumnChunkMetaData)> {
        let columns = self.metadata.columns().iter().enumerate();
        columns.into_iter().find(|(_, column)| column.column_path().string() == name)
    }

    /// Calls `each` for each value of a column of texts or bytes.
    fn texts(
        &self,
        name: &str,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some((number, column)) = self.column(name) else { return Ok(()) };
        match self.reader.get_column_reader(number).map_err(damaged)? {
            ColumnReader::ByteArrayColumnReader(reader) => {
                self.values(column, reader, |row, value: &ByteArray| each(row, value.data()))
            }
            // A column without values has any type that the program chose.
            ColumnReader::Int32ColumnReader(reader) => self.nothing(name, column, reader),
            ColumnReader::DoubleColumnReader(reader) => self.nothing(name, column, reader),
            _ => Err(wrong_type(name, column.column_type(), "texts or bytes")),
        }
    }

    /// The values of a column of numbers, each with its row.
    fn numbers(&self, name: &str) -> Result<Vec<(u64, i64)>, String> {
        let Some((number, column)) = self.column(name) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        match self.reader.get_column_reader(number).map_err(damaged)? {
            ColumnReader::Int64ColumnReader(reader) => {
                self.values(column, reader, |row, value| {
                    found.push((row, *value));
                    Ok(())
                })?;
                Ok(found)
            }
            _ => Err(wrong_type(name, column.column_type(), "integers of 64 bits")),
        }
    }

    /// Refuses a column of another type unless it has no value.
    fn nothing<T: DataType>(
        &self,
        name: &str,
        column: &ColumnChunkMetaData,
        reader: ColumnReaderImpl<T>,
    ) -> Result<(), String> {
        let wrong = || Err(wrong_type(name, column.column_type(), "texts or bytes"));
        self.values(column, reader, |_, _| wrong())
    }

    /// Calls `each` for each value of a column that is not null, with the number of its row.
    fn values<T: DataType>(
        &self,
        column: &ColumnChunkMetaData,
        mut reader: ColumnReaderImpl<T>,
        mut each: impl FnMut(u64, &T::T) -> Result<(), String>,
    ) -> Result<(), String> {
        /// The most values that are decoded at once.
        const STEP: usize = 4096;
        let levels_of = column.column_descr();
        let optional = match (levels_of.max_def_level(), levels_of.max_rep_level()) {
            (0, 0) => false,
            (1, 0) => true,
            _ => return Err(format!("its column {:?} is nested", column.column_path().string())),
        };
        let rows = u64::try_from(self.metadata.num_rows()).unwrap_or(0);
        let mut row = 0_u64;
        while row < rows {
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            let (records, _, _) =
                reader.read_records(STEP, Some(&mut levels), None, &mut values).map_err(damaged)?;
            if records == 0 || u64::try_from(records).is_ok_and(|records| records > rows - row) {
                return Err(format!(
                    "its column {:?} has another number of values than rows",
                    column.column_path().string()
                ));
            }
            let mut values = values.iter();
            for at in 0..records {
                let set = !optional || levels.get(at).is_some_and(|level| *level == 1);
                if set {
                    each(row, values.next().ok_or("it is damaged: too few values")?)?;
                }
                row += 1;
            }
        }
        Ok(())
    }
}

fn wrong_type(name: &str, found: Type, expected: &str) -> String {
    format!("its column {name:?} is of type {found}, expected {expected}")
}
