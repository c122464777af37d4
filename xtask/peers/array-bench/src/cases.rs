//! What is measured: a data type, a chain, and data that compresses as real data does.

/// Elements of the array on each axis.
pub const SIDE: usize = 8192;

pub struct Case {
    pub name: &'static str,
    pub data_type: &'static str,
    pub element_size: usize,
    pub codecs: &'static str,
    pub leaf: Leaf,
    /// Whether chunks are stored transposed.
    pub transposed: bool,
    /// Random bits in each element; the rest follows from its place.
    pub noise: u32,
    /// Rows of the array; the columns make up 256 MiB.
    pub rows: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    Bytes,
    Packed { bits: u32, signed: bool },
    Zstd,
}

const ZSTD: &str = r#"{"name":"zstd","configuration":{"level":1,"checksum":false}}"#;
const BYTES: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
const TRANSPOSE: &str = r#"{"name":"transpose","configuration":{"order":[1,0]}}"#;

pub const CASES: &[Case] = &[
    Case {
        name: "bool-packbits",
        data_type: "bool",
        element_size: 1,
        codecs: r#"[{"name":"packbits"}]"#,
        leaf: Leaf::Packed { bits: 1, signed: false },
        transposed: false,
        noise: 1,
        rows: 16384,
    },
    Case {
        name: "uint16-bytes",
        data_type: "uint16",
        element_size: 2,
        codecs: BYTES,
        leaf: Leaf::Bytes,
        transposed: false,
        noise: 12,
        rows: 8192,
    },
    Case {
        name: "uint16-zstd",
        data_type: "uint16",
        element_size: 2,
        codecs: ZSTD,
        leaf: Leaf::Zstd,
        transposed: false,
        noise: 4,
        rows: 8192,
    },
    Case {
        name: "uint16-transpose-zstd",
        data_type: "uint16",
        element_size: 2,
        codecs: TRANSPOSE,
        leaf: Leaf::Zstd,
        transposed: true,
        noise: 4,
        rows: 8192,
    },
    Case {
        name: "uint16-transpose-zstd-noisy",
        data_type: "uint16",
        element_size: 2,
        codecs: TRANSPOSE,
        leaf: Leaf::Zstd,
        transposed: true,
        noise: 12,
        rows: 8192,
    },
    Case {
        name: "int4-packbits",
        data_type: "int4",
        element_size: 1,
        codecs: r#"[{"name":"packbits"}]"#,
        leaf: Leaf::Packed { bits: 4, signed: true },
        transposed: false,
        noise: 4,
        rows: 16384,
    },
];

impl Case {
    pub fn columns(&self) -> usize {
        (256 << 20) / self.element_size / self.rows
    }

    pub fn chunk(&self) -> [usize; 2] {
        [self.rows / 8, self.columns() / 8]
    }

    pub fn document(&self) -> String {
        let codecs = match (self.leaf, self.transposed) {
            (Leaf::Zstd, true) => format!("[{},{BYTES},{ZSTD}]", self.codecs),
            (Leaf::Zstd, false) => format!("[{BYTES},{}]", self.codecs),
            (Leaf::Bytes, _) => format!("[{}]", self.codecs),
            (Leaf::Packed { .. }, _) => self.codecs.to_owned(),
        };
        let [rows, columns] = self.chunk();
        format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":[{},{}],"data_type":"{}",
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[{rows},{columns}]}}}},
            "chunk_key_encoding":{{"name":"default"}},"fill_value":{},"codecs":{codecs}}}"#,
            self.rows,
            self.columns(),
            self.data_type,
            if self.data_type == "bool" { "false" } else { "0" },
        )
    }

    /// The elements in C order, little-endian.
    pub fn data(&self) -> Vec<u8> {
        let columns = self.columns();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut data = Vec::with_capacity(256 << 20);
        for index in 0..self.rows * columns {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let noise = state >> (64 - self.noise);
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
}
