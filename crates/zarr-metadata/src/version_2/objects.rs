//! Chunks of objects of version 2 that are stored as JSON.

use crate::error::{At, MetadataError, Result};
use crate::json::{Grammar, JsonType, Outline, Raw, range_of, read_elements, utf8};

/// The elements of a chunk of objects that numcodecs' `json2` wrote, in C order: the stored JSON
/// text of each. `shape` is the shape of the chunk.
///
/// Such a chunk is one JSON array: nested arrays of elements, as deep as the chunk has dimensions,
/// then the data type of NumPy, then the shape. A chunk of no dimension is `[element, "|O", []]`.
///
/// Uses memory in proportion to the chunk.
///
/// # Errors
/// If the chunk is not UTF-8 or not JSON, nests deeper than 128 values, or does not have this
/// shape. Python's words `NaN`, `Infinity` and `-Infinity` are allowed. Paths are those in the
/// chunk.
///
/// # Examples
/// ```
/// let chunk = br#"[["a",null],[{"k":1.50},[]],"|O",[2,2]]"#;
/// let elements = zarr_metadata::json2_elements(chunk, &[2, 2])?;
/// assert_eq!(elements, [r#""a""#, "null", r#"{"k":1.50}"#, "[]"]);
///
/// let error = zarr_metadata::json2_elements(chunk, &[4]).unwrap_err();
/// assert_eq!(error.to_string(), "$[3]: found [2,2], expected [4], the shape of the chunk");
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// There is none: the code of numcodecs 0.16, `json.py`.
pub fn json2_elements<'a>(chunk: &'a [u8], shape: &[usize]) -> Result<Vec<&'a str>> {
    const ALLOWED: &str = "an array of elements, a data type and a shape";
    let text = utf8(chunk)?;
    let outline = Outline::read(text, Grammar::WithNotFinite)?;
    let raw = outline.root();
    let items = read_elements(raw, ALLOWED, Ok)?;
    let [items @ .., data_type, last] = items.as_slice() else {
        return Err(raw.expected(ALLOWED));
    };
    if data_type.json_type() != JsonType::String {
        return Err(data_type.expected("the data type of the chunk").in_element(items.len()));
    }
    check_shape(*last, shape).element(items.len() + 1)?;
    let mut elements = Vec::new();
    let (length, inner) = shape.split_first().unwrap_or((&1, &[]));
    check_length(items.len(), *length)?;
    for (index, item) in items.iter().enumerate() {
        collect(*item, inner, &mut |element| elements.push(range_of(element, text)))
            .element(index)?;
    }
    Ok(elements.into_iter().map(|element| text.get(element).unwrap_or_default()).collect())
}

fn check_shape(raw: Raw<'_>, shape: &[usize]) -> Result<()> {
    let allowed = || format!("{shape:?}, the shape of the chunk");
    let found = read_elements(raw, allowed(), |length| Ok(length.natural()))?;
    let expected = shape.iter().map(|length| u64::try_from(*length).ok());
    match found.into_iter().eq(expected) {
        true => Ok(()),
        false => Err(raw.expected(allowed())),
    }
}

fn check_length(found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let allowed = format!("length {expected}, as the shape of the chunk says");
    Err(MetadataError::unexpected(format!("length {found}"), allowed))
}

/// Gives the elements of nested arrays of this shape to `push`.
fn collect(raw: Raw<'_>, shape: &[usize], push: &mut dyn FnMut(&str)) -> Result<()> {
    let Some((length, inner)) = shape.split_first() else {
        push(raw.text());
        return Ok(());
    };
    let items = read_elements(raw, "an array", |raw| collect(raw, inner, push))?;
    check_length(items.len(), *length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_texts_as_they_are_stored() {
        let chunk = b" [ 1.50 , \"\\u00e9\\ud83d\" ,NaN,-Infinity,[[1],2], \"|O\", [5] ]\n";
        let elements = json2_elements(chunk, &[5]).expect("valid");
        assert_eq!(elements, ["1.50", "\"\\u00e9\\ud83d\"", "NaN", "-Infinity", "[[1],2]"]);
        assert_eq!(json2_elements(br#"[[1],"|O",[]]"#, &[]).expect("valid"), ["[1]"]);
        // Elements that are arrays themselves, in two dimensions.
        let nested = br#"[[[1],[2,3]],[[],{}],"|O",[2,2]]"#;
        let elements = json2_elements(nested, &[2, 2]).expect("valid");
        assert_eq!(elements, ["[1]", "[2,3]", "[]", "{}"]);
    }

    #[test]
    fn what_is_no_such_chunk_is_an_error_at_its_place() {
        let cases: [(&[u8], &[usize], &str); 12] = [
            (b"", &[1], "found the end of the text"),
            (b"\xff", &[1], "UTF-8"),
            (b"{}", &[1], "$: found {}, expected an array of elements"),
            (b"[]", &[1], "$: found"),
            (b"[\"|O\"]", &[1], "$: found"),
            (b"[1,2,[1]]", &[1], "$[1]: found 2, expected the data type of the chunk"),
            (b"[1,\"|O\",[2]]", &[1], "$[2]: found [2], expected [1], the shape"),
            (b"[1,\"|O\",2]", &[1], "$[2]: found 2, expected [1], the shape"),
            (b"[1,2,\"|O\",[1]]", &[1], "$: found length 2, expected length 1"),
            (b"[\"|O\",[]]", &[], "$: found length 0, expected length 1"),
            (b"[[1,2],[3],\"|O\",[2,2]]", &[2, 2], "$[1]: found length 1, expected length 2"),
            (b"[[1,2],3,\"|O\",[2,2]]", &[2, 2], "$[1]: found 3, expected an array"),
        ];
        for (chunk, shape, expected) in cases {
            let error = json2_elements(chunk, shape).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}, not {expected}");
        }
        let deep = ["[".repeat(200).as_bytes(), b"1"].concat();
        assert!(json2_elements(&deep, &[1]).is_err());
    }
}
