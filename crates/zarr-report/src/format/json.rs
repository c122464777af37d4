//! Elements from JSON: one per line, or nested lists. Each is written like a fill value, or in the
//! printed form.

use serde_json::value::RawValue;
use zarr_metadata::{DataType, Loss};

use super::value;

/// Takes the bytes of one element after another.
type Take<'t> = &'t mut dyn FnMut(&[u8]);

/// Reads the elements of lines that `read --format lines` wrote; empty lines are left out.
pub fn lines(text: &str, data_type: &DataType, loss: Loss, take: Take<'_>) -> Result<(), String> {
    let mut element = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        element.clear();
        value::read(data_type, line, loss, &mut element)
            .map_err(|error| format!("line {}{error}", number + 1))?;
        take(&element);
    }
    Ok(())
}

/// The most levels of lists that are read, each in a pass over the text; numpy has as many axes.
const MOST_LEVELS: usize = 64;

/// Reads the elements of nested lists of [`rank`] levels in C order, and returns the shape of the
/// lists: it ends with the size 0 of empty lists, below which there is nothing to count.
pub fn nested(
    text: &str,
    rank: usize,
    data_type: &DataType,
    loss: Loss,
    take: Take<'_>,
) -> Result<Vec<u64>, String> {
    if rank > MOST_LEVELS {
        return Err(format!("$: {rank} levels of lists, expected at most {MOST_LEVELS}"));
    }
    let mut lists = Lists { data_type, loss, shape: vec![None; rank], element: Vec::new(), take };
    lists.gather(text.trim(), 0, "$")?;
    Ok(lists.shape.into_iter().map_while(|size| size).collect())
}

/// The depth of the elements, from the first entry of each list.
pub fn rank(text: &str, data_type: &DataType) -> usize {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    let mut rest = text.bytes().filter(|byte| !is_space(byte)).peekable();
    let mut depth = 0_usize;
    while rest.next_if_eq(&b'[').is_some() {
        depth += 1;
    }
    // Pairs of complex numbers are lists themselves, and so are raw bits that are not base64.
    let is_list = match rest.peek() {
        Some(b']') => false,
        Some(b'"') => data_type.is_complex(),
        _ => data_type.is_complex() || matches!(data_type, DataType::RawBits(_)),
    };
    depth.saturating_sub(usize::from(is_list))
}

fn list<'t>(text: &'t str, path: &str) -> Result<Vec<&'t RawValue>, String> {
    serde_json::from_str(text).map_err(|error| format!("{path}: {error}"))
}

struct Lists<'t> {
    data_type: &'t DataType,
    loss: Loss,
    /// The size of lists at each depth, once one has been seen.
    shape: Vec<Option<u64>>,
    element: Vec<u8>,
    take: Take<'t>,
}

impl Lists<'_> {
    fn gather(&mut self, text: &str, depth: usize, path: &str) -> Result<(), String> {
        let Some(size) = self.shape.get_mut(depth) else {
            self.element.clear();
            value::read(self.data_type, text, self.loss, &mut self.element)
                .map_err(|error| format!("{path}{error}"))?;
            (self.take)(&self.element);
            return Ok(());
        };
        if !text.starts_with('[') {
            return Err(format!("{path}: an element where others have a list"));
        }
        let members = list(text, path)?;
        let length = u64::try_from(members.len()).unwrap_or(u64::MAX);
        match *size.get_or_insert(length) {
            expected if expected == length => {}
            expected => {
                return Err(format!("{path}: a list of {length}, but others have {expected}"));
            }
        }
        for (index, member) in members.into_iter().enumerate() {
            self.gather(member.get(), depth + 1, &format!("{path}[{index}]"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(text: &str, data_type: &DataType) -> Result<(Vec<u64>, Vec<u8>), String> {
        let mut elements = Vec::new();
        let take = &mut |element: &[u8]| elements.extend_from_slice(element);
        let shape = super::nested(text, rank(text, data_type), data_type, Loss::Refuse, take)?;
        Ok((shape, elements))
    }

    #[test]
    fn nested_lists_have_a_shape() {
        let read = |text: &str| nested(text, &DataType::Uint8);
        assert_eq!(read("[[1, 2], [3, 4], [5, 6]]"), Ok((vec![3, 2], vec![1, 2, 3, 4, 5, 6])));
        assert_eq!(read(" 7\n"), Ok((vec![], vec![7])));
        assert_eq!(read("[]"), Ok((vec![0], vec![])));
        assert_eq!(read("[[], []]"), Ok((vec![2, 0], vec![])));
        let complex = nested("[[1, 0], [0, \"NaN\"]]", &DataType::Complex64).expect("reads");
        assert_eq!((complex.0, complex.1.len()), (vec![2], 16));
        let bits: DataType = "r16".parse().expect("a type");
        for text in ["[[1, 2], [3, 4]]", r#"["AQI=", "AwQ="]"#, r#"["AQI=", [3, 4]]"#] {
            assert_eq!(nested(text, &bits), Ok((vec![2], vec![1, 2, 3, 4])), "{text}");
        }
        let messages: Vec<String> =
            ["[[1, 2], [3]]", "[1, [2]]", "[[1], 2]", "[1, 256]", "[1", "", "[1.5]", "x", "[[1"]
                .iter()
                .map(|text| read(text).expect_err(text))
                .collect();
        insta::assert_snapshot!(messages.join("\n"), @r"
        $[1]: a list of 1, but others have 2
        $[1]: found [2], expected an integer from 0 to 255, a value of type uint8
        $[1]: an element where others have a list
        $[1]: found 256, expected an integer from 0 to 255, a value of type uint8
        $: EOF while parsing a list at line 1 column 2
        $: line 1 column 1: found the end of the text, expected a value
        $[0]: found 1.5, expected an integer from 0 to 255, a value of type uint8
        $: line 1 column 1: found 'x', expected a value
        $: EOF while parsing a list at line 1 column 3
        ");
    }

    /// No level is read again for each one around it: that took minutes for some 100 KB.
    #[test]
    fn many_levels_are_counted_in_one_pass() {
        let deep = |levels: usize| format!("{}1{}", "[ ".repeat(levels), "]\n".repeat(levels));
        let read = |levels: usize| nested(&deep(levels), &DataType::Uint8);
        assert_eq!(read(64), Ok((vec![1; 64], vec![1])));
        assert_eq!(read(65), Err("$: 65 levels of lists, expected at most 64".to_owned()));
        let error = nested(&"[".repeat(10_000_000), &DataType::Uint8).expect_err("too many");
        assert_eq!(error, "$: 10000000 levels of lists, expected at most 64");
        let complex = |text: &str| nested(text, &DataType::Complex64).map(|(shape, _)| shape);
        assert_eq!(complex("[ [ ] ]"), Ok(vec![1, 0]));
        assert_eq!(complex("[1, 0]"), Ok(vec![]));
        assert_eq!(complex("[]"), Ok(vec![0]));
    }

    #[test]
    fn lines_are_elements() {
        let read = |text: &str| {
            let mut elements = Vec::new();
            let take = &mut |element: &[u8]| elements.extend_from_slice(element);
            lines(text, &DataType::Int16, Loss::Refuse, take).map(|()| elements)
        };
        assert_eq!(read("1\n-2\n\n3"), Ok(vec![1, 0, 0xfe, 0xff, 3, 0]));
        insta::assert_snapshot!(
            read("1\n99999\n").expect_err("too large"),
            @"line 2: found 99999, expected an integer from -32768 to 32767, a value of type int16"
        );
    }
}
