//! What is measured: a data type, a chain, and data that compresses as real data does.

use zarr_kit::view::{CopyElement, View, copy};

use crate::Result;

/// Chunks of every array.
pub const CHUNKS: usize = 64;

/// Bytes of every array's elements in memory.
pub const BYTES: usize = 256 << 20;

pub struct Case {
    pub name: &'static str,
    pub data_type: &'static str,
    pub element_size: usize,
    shape: &'static [usize],
    chunk: &'static [usize],
    /// The shape of the array and of a chunk once the outer reshape has split axes, if there is one.
    split: Option<(&'static [usize], &'static [usize])>,
    /// The order of axes in which chunks are stored, if it is another.
    order: Option<&'static [usize]>,
    pub leaf: Leaf,
    /// How many values the random part of each element has; the rest follows from its place.
    noise: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    Bytes,
    Packed { bits: u32, signed: bool },
    Zstd,
}

/// The shape of an array and its chunks, and the document that says so.
pub struct Layout {
    pub shape: Vec<usize>,
    pub chunk: Vec<usize>,
    pub document: String,
}

const SQUARE_U8: (&[usize], &[usize]) = (&[16384, 16384], &[2048, 2048]);
const SQUARE_U16: (&[usize], &[usize]) = (&[8192, 16384], &[1024, 2048]);
const FOUR: (&[usize], &[usize]) = (&[128, 256, 256, 16], &[32, 64, 64, 16]);
const TILES: (&[usize], &[usize]) = (&[16384, 256, 64], &[2048, 32, 64]);

const fn uint16(name: &'static str, leaf: Leaf, noise: u64) -> Case {
    let (shape, chunk) = SQUARE_U16;
    Case {
        name,
        data_type: "uint16",
        element_size: 2,
        shape,
        chunk,
        split: None,
        order: None,
        leaf,
        noise,
    }
}

const fn packed(name: &'static str, data_type: &'static str, bits: u32, signed: bool) -> Case {
    let (shape, chunk) = SQUARE_U8;
    let leaf = Leaf::Packed { bits, signed };
    Case { data_type, element_size: 1, shape, chunk, ..uint16(name, leaf, 1 << bits) }
}

const fn turned(order: &'static [usize], case: Case) -> Case {
    Case { order: Some(order), ..case }
}

const fn four(order: &'static [usize], name: &'static str, leaf: Leaf) -> Case {
    turned(order, Case { shape: FOUR.0, chunk: FOUR.1, ..uint16(name, leaf, 6) })
}

pub const CASES: &[Case] = &[
    packed("bool-packbits", "bool", 1, false),
    uint16("uint16-bytes", Leaf::Bytes, 4096),
    uint16("uint16-zstd", Leaf::Zstd, 5),
    turned(&[1, 0], uint16("uint16-transpose-zstd", Leaf::Zstd, 5)),
    turned(&[1, 0], uint16("uint16-transpose-zstd-noisy", Leaf::Zstd, 2600)),
    turned(&[1, 0], uint16("uint16-transpose-bytes", Leaf::Bytes, 4096)),
    packed("int4-packbits", "int4", 4, true),
    turned(
        &[1, 0, 2],
        Case { split: Some(TILES), ..packed("int4-reshape-transpose", "int4", 4, true) },
    ),
    turned(
        &[2, 0, 1],
        Case { split: Some(TILES), ..packed("int4-reshape-transpose-fine", "int4", 4, true) },
    ),
    turned(&[1, 0], packed("bool-transpose-packbits", "bool", 1, false)),
    four(&[3, 0, 2, 1], "uint16-4d-3021-bytes", Leaf::Bytes),
    four(&[3, 0, 2, 1], "uint16-4d-3021-zstd", Leaf::Zstd),
    four(&[0, 3, 1, 2], "uint16-4d-0312-bytes", Leaf::Bytes),
    four(&[0, 3, 1, 2], "uint16-4d-0312-zstd", Leaf::Zstd),
];

impl Case {
    /// The array as it is declared.
    pub fn layout(&self) -> Layout {
        let mut codecs = Vec::new();
        if let Some((_, chunk)) = self.split {
            codecs.push(format!(
                r#"{{"name":"reshape","configuration":{{"shape":[[0],{},{}]}}}}"#,
                chunk[1], chunk[2]
            ));
        }
        if let Some(order) = self.order {
            codecs.push(format!(r#"{{"name":"transpose","configuration":{{"order":{order:?}}}}}"#));
        }
        self.layout_of(self.shape.to_vec(), self.chunk.to_vec(), codecs)
    }

    /// The same elements as an array whose own order is the one that chunks are stored in: with
    /// no codec that moves any, its chunks are the same bytes.
    pub fn turned_layout(&self) -> Layout {
        let (shape, chunk) = self.split.unwrap_or((self.shape, self.chunk));
        self.layout_of(self.permuted(shape), self.permuted(chunk), Vec::new())
    }

    fn permuted(&self, lengths: &[usize]) -> Vec<usize> {
        match self.order {
            Some(order) => order.iter().map(|&axis| lengths[axis]).collect(),
            None => lengths.to_vec(),
        }
    }

    fn layout_of(&self, shape: Vec<usize>, chunk: Vec<usize>, mut codecs: Vec<String>) -> Layout {
        let bytes = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
        match self.leaf {
            Leaf::Bytes => codecs.push(bytes.to_owned()),
            Leaf::Packed { .. } => codecs.push(r#"{"name":"packbits"}"#.to_owned()),
            Leaf::Zstd => codecs.extend([
                bytes.to_owned(),
                r#"{"name":"zstd","configuration":{"level":1,"checksum":false}}"#.to_owned(),
            ]),
        }
        let fill = if self.data_type == "bool" { "false" } else { "0" };
        let document = document(&shape, &chunk, self.data_type, fill, &codecs.join(","));
        Layout { shape, chunk, document }
    }

    /// Whether chunks are stored in another order than the array's.
    pub fn is_turned(&self) -> bool {
        self.order.is_some()
    }

    /// The number of a chunk in the array as declared, given the one in the turned array.
    pub fn declared_chunk(&self, turned: usize) -> Vec<usize> {
        let (shape, chunk) = self.split.unwrap_or((self.shape, self.chunk));
        let counts = counts(shape, chunk);
        let at = unravel(turned, &self.permuted(&counts));
        let mut declared = at.clone();
        for (&axis, &at) in self.order.unwrap_or_default().iter().zip(&at) {
            declared[axis] = at;
        }
        let linear =
            declared.iter().zip(&counts).fold(0, |linear, (at, count)| linear * count + at);
        unravel(linear, &self::counts(self.shape, self.chunk))
    }

    /// The elements in C order, little-endian.
    pub fn data(&self) -> Vec<u8> {
        let columns: usize = self.shape[self.shape.len() / 2..].iter().product();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut data = Vec::with_capacity(BYTES);
        for index in 0..BYTES / self.element_size {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let noise = ((state >> 32) * self.noise) >> 32;
            if self.element_size == 2 {
                let (row, column) = (index / columns, index % columns);
                let smooth = (row / 64 + column / 64) << 4;
                data.extend((smooth as u16 ^ noise as u16).to_le_bytes());
            } else if self.data_type == "int4" {
                data.push((((noise as u8) << 4) as i8 >> 4) as u8);
            } else {
                data.push(noise as u8);
            }
        }
        data
    }

    /// The elements of the turned array, given those of the array as declared.
    pub fn turn(&self, data: &[u8]) -> Result<Vec<u8>> {
        let (shape, _) = self.split.unwrap_or((self.shape, self.chunk));
        let Some(order) = self.order else { return Ok(data.to_vec()) };
        let mut out = zarr_kit::view::zeroed(data.len())?;
        let from = View::contiguous(shape)?.permute(order)?;
        let to = View::contiguous(&self.permuted(shape))?;
        copy(&from, data, &to, &mut out, CopyElement::try_from(self.element_size)?, &[])?;
        Ok(out)
    }
}

/// An array's document, on a regular grid.
pub fn document(
    shape: &[usize],
    chunk: &[usize],
    data_type: &str,
    fill: &str,
    codecs: &str,
) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{shape:?},"data_type":"{data_type}",
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunk:?}}}}},
        "chunk_key_encoding":{{"name":"default"}},"fill_value":{fill},"codecs":[{codecs}]}}"#
    )
}

/// How many chunks there are along each axis.
pub fn counts(shape: &[usize], chunk: &[usize]) -> Vec<usize> {
    shape.iter().zip(chunk).map(|(length, edge)| length / edge).collect()
}

/// The index whose number in C order this is.
pub fn unravel(mut linear: usize, counts: &[usize]) -> Vec<usize> {
    let mut index = vec![0; counts.len()];
    for (at, count) in index.iter_mut().zip(counts).rev() {
        *at = linear % count;
        linear /= count;
    }
    index
}

/// One array to write and read.
pub struct Work<'a> {
    pub case: &'a Case,
    pub layout: Layout,
    pub data: &'a [u8],
}
