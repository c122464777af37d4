//! Shards in the short form of codec chains: `shard:64x64(bytes,zstd)`.

use super::notation::CodecNotation;

/// Shards within shards, at most.
const DEPTH: usize = 4;

/// The parts of a chain: between commas that are in no parentheses.
pub(super) fn entries(text: &str) -> Result<Vec<&str>, String> {
    let (mut entries, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' if depth == DEPTH => {
                return Err(format!("more than {DEPTH} parentheses in each other; give JSON"));
            }
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1).ok_or("a ) without a (")?,
            b',' if depth == 0 => {
                entries.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err("a ( without a )".to_owned());
    }
    entries.push(text.get(start..).unwrap_or_default());
    Ok(entries)
}

/// The lengths of inner chunks and their codecs: `64x64(bytes,zstd)`. Without codecs, those of an
/// array for which none are given.
pub(super) fn shard(text: &str) -> Result<(Vec<u64>, CodecNotation), String> {
    let (edges, inner) = match text.split_once('(') {
        None => (text, CodecNotation::usual()),
        Some((edges, rest)) => {
            let chain = rest.trim_end().strip_suffix(')').ok_or("shard: text after the )")?;
            let chain = chain.parse::<CodecNotation>();
            (edges, chain.map_err(|error| format!("within the shard: {error}"))?)
        }
    };
    // The text is not repeated: an address in the wrong place may hold a password.
    let edge = |(axis, text): (usize, &str)| {
        let edge = text.trim().parse::<u64>().ok().filter(|edge| *edge > 0);
        edge.ok_or_else(|| {
            format!(
                "shard: the length of chunks on axis {axis} is not an integer of at least 1; a length \
                 for each axis, such as 64x64, is allowed"
            )
        })
    };
    let edges = edges.split('x').enumerate().map(edge);
    Ok((edges.collect::<Result<_, _>>()?, inner))
}
