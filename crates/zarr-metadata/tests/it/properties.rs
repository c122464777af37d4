//! Reading what was written gives the same result, for random arrays from a seed.

use zarr_metadata::{
    ArrayMetadata, Blosc, BloscCompressor, BloscShuffle, Bytes, ChunkEdges, ChunkGrid,
    ChunkKeyEncoding, Codec, DataType, EdgeRun, Endian, Extension, FillValue, GroupMetadata,
    IndexLocation, Packbits, PaddingEncoding, RawBits, ReshapeDim, Separator, Sharding, Zstd,
};

/// A small generator, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn index(&mut self, n: usize) -> usize {
        usize::try_from(self.below(u64::try_from(n).unwrap())).unwrap()
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn data_type(&mut self) -> DataType {
        match self.below(8) {
            0 => DataType::RawBits(RawBits::new(1 + self.index(5)).unwrap()),
            _ => DataType::FIXED[self.index(DataType::FIXED.len())].clone(),
        }
    }

    fn fill_value(&mut self, data_type: &DataType) -> FillValue {
        let mut bytes: Vec<u8> =
            (0..data_type.size().unwrap()).map(|_| self.next().to_be_bytes()[0]).collect();
        if *data_type == DataType::Bool {
            bytes[0] &= 1;
        }
        data_type.canonicalize_element(&mut bytes);
        FillValue::from_bytes(data_type, &bytes).unwrap()
    }

    fn edges(&mut self, length: u64) -> ChunkEdges {
        if self.chance() {
            return ChunkEdges::Regular(1 + self.below(length + 5));
        }
        let mut runs = Vec::new();
        let mut sum = 0;
        while sum < length || runs.is_empty() || self.below(4) == 0 {
            let edge = 1 + self.below(9);
            let run = match self.below(3) {
                0 => EdgeRun::Repeat { edge, count: (1 + self.below(1000)).try_into().unwrap() },
                _ => EdgeRun::Edge(edge),
            };
            sum += run.extent().unwrap();
            runs.push(run);
        }
        if self.chance() { ChunkEdges::from_runs(runs) } else { ChunkEdges::Runs(runs) }
    }

    fn permutation(&mut self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).collect();
        for i in 0..rank {
            order.swap(i, self.index(rank));
        }
        order
    }

    fn chain(&mut self, data_type: &DataType, rank: usize, depth: u32) -> Vec<Codec> {
        let mut rank = rank;
        let mut codecs = Vec::new();
        for _ in 0..self.below(3) {
            if self.chance() {
                codecs.push(Codec::transpose(self.permutation(rank)));
                continue;
            }
            let mut shape = Vec::new();
            for dim in 0..rank {
                match self.below(3) {
                    0 => shape.push(ReshapeDim::InputDims(vec![dim])),
                    1 => shape.push(ReshapeDim::Size(1 + self.below(100))),
                    _ => shape.push(ReshapeDim::InputDims(vec![])),
                }
            }
            if self.chance() {
                shape.push(ReshapeDim::Auto);
            }
            rank = shape.len();
            codecs.push(Codec::reshape(shape));
        }
        let layout = data_type.element_layout().unwrap();
        codecs.push(match self.below(4) {
            0 if data_type.is_packable() => {
                let first = self.below(u64::from(layout.component_bits));
                let last = first + self.below(u64::from(layout.component_bits) - first);
                let padding =
                    [PaddingEncoding::None, PaddingEncoding::FirstByte, PaddingEncoding::LastByte]
                        [self.index(3)];
                let first = self.chance().then_some(first);
                let last = self.chance().then_some(last);
                Codec::Packbits(Packbits::new(first, last).with_padding(padding))
            }
            1 if depth < 2 => {
                let chunk_shape: Vec<_> = (0..rank).map(|_| 1 + self.below(7)).collect();
                let codecs = self.chain(data_type, rank, depth + 1);
                let location =
                    if self.chance() { IndexLocation::Start } else { IndexLocation::End };
                let sharding = Sharding::new(chunk_shape, codecs)
                    .with_index([Codec::bytes(), Codec::Crc32c], location);
                Codec::ShardingIndexed(Box::new(sharding))
            }
            _ => {
                let needed = layout.swap_unit > 1 || self.chance();
                let endian = if self.chance() { Endian::Big } else { Endian::Little };
                Codec::Bytes(Bytes::new(needed.then_some(endian)))
            }
        });
        for _ in 0..self.below(3) {
            codecs.push(match self.below(5) {
                0 => Codec::gzip(u32::try_from(self.below(10)).unwrap()),
                1 => {
                    let zstd = Zstd::new(i32::try_from(self.below(23)).unwrap() - 3);
                    Codec::Zstd(zstd.with_checksum(self.chance()))
                }
                2 => {
                    let shuffle = if self.chance() {
                        BloscShuffle::Shuffle
                    } else {
                        BloscShuffle::BitShuffle
                    };
                    let blosc = Blosc::new(BloscCompressor::Lz4, 5)
                        .with_shuffle(shuffle, 1 + self.below(16))
                        .with_blocksize(self.below(1 << 20));
                    Codec::Blosc(blosc)
                }
                3 => Codec::Unknown(
                    Extension::new("some.thing", Some("{\"x\": [1.50, \"é\"]}")).unwrap(),
                ),
                _ => Codec::Crc32c,
            });
        }
        codecs
    }

    fn array(&mut self) -> ArrayMetadata {
        let rank = self.index(4);
        let shape: Vec<u64> = (0..rank).map(|_| self.below(40)).collect();
        let data_type = self.data_type();
        let grid = if self.chance() {
            ChunkGrid::Regular { chunk_shape: shape.iter().map(|_| 1 + self.below(9)).collect() }
        } else {
            ChunkGrid::Rectilinear { chunk_shapes: shape.iter().map(|&n| self.edges(n)).collect() }
        };
        let fill_value = self.fill_value(&data_type);
        let codecs = self.chain(&data_type, rank, 0);
        let mut array =
            ArrayMetadata::new(&shape, &data_type, &grid, &fill_value, &codecs).unwrap();
        // What goes in comes out.
        assert_eq!(array.shape(), shape);
        assert_eq!(array.data_type(), &data_type);
        assert_eq!(array.chunk_grid(), &grid);
        assert_eq!(array.fill_value(), &fill_value);
        assert_eq!(array.codecs(), codecs);
        if self.chance() {
            let names: Vec<_> = (0..rank).map(|i| (i % 2 == 0).then_some("α\"\n")).collect();
            array = array.with_dimension_names(&names).unwrap();
        }
        if self.chance() {
            let separator = if self.chance() { Separator::Dot } else { Separator::Slash };
            array = array.with_chunk_key_encoding(&ChunkKeyEncoding::V2 { separator }).unwrap();
        }
        if self.chance() {
            let attributes = r#"{"b": {"deep": [1, {"x": "\u00e9, ]}"}]}, "a": 1.0e5}"#;
            array = array.with_attributes(attributes).unwrap();
            assert_eq!(array.attribute("a"), Some("1.0e5"));
        }
        array
    }
}

#[test]
fn what_is_written_reads_the_same() {
    let mut random = Random(33);
    for _ in 0..3000 {
        let array = random.array();
        let json = array.json();
        let read = ArrayMetadata::from_json(json.as_bytes()).unwrap();
        assert_eq!(read, array);
        assert_eq!(read.json(), json);
        // The serialiser of `serde_json`, which spells numbers differently.
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let compact = ArrayMetadata::from_json(value.to_string().as_bytes()).unwrap();
        // The text of an unknown codec is all that is known of it.
        if !json.contains("some.thing") {
            assert_eq!(compact.codecs(), array.codecs());
        }
        assert_eq!(compact.chunk_grid(), array.chunk_grid());
        // Not the fill value: `serde_json` does not round decimals correctly by default.
    }
}

#[test]
fn serde_json_agrees_on_what_is_json() {
    // Random changes to a document: if serde_json reads it, the reader may refuse its content but
    // never its syntax; if serde_json does not, neither does the reader.
    let mut random = Random(43);
    let text = r#"{"attributes": {"a": [1, -2.5e+3, "x\n\u00e9", true, null], "b": {"c": {}}}, "node_type": "group", "zarr_format": 3}"#;
    let alphabet = b"{}[]\",:0123456789.-+eE\\ untrfalse\n\t\"";
    for _ in 0..200_000 {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..1 + random.below(3) {
            let at = random.index(bytes.len());
            match random.below(3) {
                0 => bytes[at] = alphabet[random.index(alphabet.len())],
                1 => bytes.insert(at, alphabet[random.index(alphabet.len())]),
                _ => {
                    bytes.remove(at);
                }
            }
        }
        let ours = zarr_metadata::GroupMetadata::from_json(&bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match (serde_json::from_slice::<serde::de::IgnoredAny>(&bytes), &ours) {
            (Ok(_), Err(error)) => {
                let error = error.to_string();
                assert!(!error.contains(": line "), "{text}: {error}");
            }
            (Err(theirs), Ok(_)) => panic!("{text}: {theirs}"),
            _ => {}
        }
    }
}

#[test]
fn sd_40_without_consolidated_metadata_all_else_keeps_its_text() {
    let members = [
        r#""zarr_format" : 3"#,
        r#""node_type": "group""#,
        r#""attributes": {"a": 1.50, "b": [NaN, ","]}"#,
        r#""theirs": {"must_understand": false, "x,y": "{"}"#,
    ];
    let consolidated =
        r#""consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}"#;
    for at in 0..=members.len() {
        for (open, comma, close) in [("{", ",", "}"), ("\n{ ", "\n ,\t", " \n}\n")] {
            let document = |members: &[&str]| format!("{open}{}{close}", members.join(comma));
            let mut all = members.to_vec();
            all.insert(at, consolidated);
            let group = GroupMetadata::from_json(document(&all).as_bytes()).unwrap();
            let group = group.without_consolidated_metadata().unwrap();
            // Surrounding space does not belong to it.
            let bare = |text: &str| text.replace(['\n', '\t', ' '], "");
            assert_eq!(bare(group.json()), bare(&document(&members)), "{at}");
            assert_eq!(group.without_consolidated_metadata().unwrap(), group);
        }
    }
}
