//! Codec chains written directly from the documents: plain loops over elements and bits that use
//! no code of this project.
//! Slow, and panics if a chunk is not valid: it is an oracle, not a decoder.

use serde_json::Value;

/// The properties of a data type in the documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    pub(crate) name: &'static str,
    pub(crate) bits: usize,
    pub(crate) components: usize,
    pub(crate) signed: bool,
}

impl Type {
    /// Bytes of a component in memory.
    fn component(&self) -> usize {
        [1, 2, 4, 8].into_iter().find(|size| size * 8 >= self.bits).expect("at most 64 bits")
    }

    pub(crate) fn size(&self) -> usize {
        self.component() * self.components
    }
}

/// Elements in C order, each as its bytes in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Vec<Vec<u8>>,
}

/// All indices of a shape in C order.
pub(crate) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for size in shape {
        let mut longer = Vec::new();
        for index in &all {
            for n in 0..*size {
                longer.push([&index[..], &[n]].concat());
            }
        }
        all = longer;
    }
    all
}

/// The position of an index in C order.
pub(crate) fn place(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |place, (n, size)| place * size + n)
}

fn name(codec: &Value) -> &str {
    codec["name"].as_str().expect("a name")
}

fn numbers(value: &Value) -> Vec<usize> {
    let list = value.as_array().expect("a list");
    list.iter().map(|n| usize::try_from(n.as_u64().expect("a number")).expect("small")).collect()
}

/// The shape after an array-to-array codec; `None` if its document forbids it.
pub(crate) fn encoded_shape(codec: &Value, shape: &[usize]) -> Option<Vec<usize>> {
    match name(codec) {
        "transpose" => {
            let order = numbers(&codec["configuration"]["order"]);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            // A permutation of 0, 1, ..., n - 1.
            (sorted == (0..shape.len()).collect::<Vec<_>>())
                .then(|| order.iter().map(|axis| shape[*axis]).collect())
        }
        "reshape" => reshaped(codec["configuration"]["shape"].as_array().expect("a list"), shape),
        other => panic!("{other} is no array-to-array codec"),
    }
}

/// `B_shape` of `reshape` for `A_shape`.
fn reshaped(entries: &[Value], a_shape: &[usize]) -> Option<Vec<usize>> {
    let product = |sizes: &[usize]| sizes.iter().product::<usize>();
    let flat: Vec<usize> = entries.iter().filter(|e| e.is_array()).flat_map(numbers).collect();
    if flat.iter().any(|dim| *dim >= a_shape.len()) {
        return None;
    }
    if flat.windows(2).any(|pair| pair[0] >= pair[1]) {
        return None;
    }
    // The product of all entries except -1, which takes the rest.
    let mut b_shape: Vec<usize> = Vec::new();
    for entry in entries {
        b_shape.push(match entry {
            Value::Array(_) => numbers(entry).iter().map(|dim| a_shape[*dim]).product(),
            _ => usize::try_from(entry.as_i64().expect("a number")).unwrap_or(1),
        });
    }
    if let Some(auto) = entries.iter().position(|entry| entry.as_i64() == Some(-1)) {
        if product(a_shape) % product(&b_shape) != 0 {
            return None;
        }
        b_shape[auto] = product(a_shape) / product(&b_shape);
    }
    if product(&b_shape) != product(a_shape) {
        return None;
    }
    for (i, entry) in entries.iter().enumerate() {
        if !entry.is_array() {
            continue;
        }
        let input_dims = numbers(entry);
        let (Some(first), Some(last)) = (input_dims.first(), input_dims.last()) else { continue };
        if product(&b_shape[..i]) != product(&a_shape[..*first])
            || product(&b_shape[i + 1..]) != product(&a_shape[last + 1..])
        {
            return None;
        }
    }
    Some(b_shape)
}

/// Whether a chain of `transpose`, `reshape` and an array-to-bytes codec allows chunks of this
/// shape.
pub(crate) fn allows(codecs: &[Value], shape: &[usize]) -> bool {
    let mut shape = shape.to_vec();
    for codec in codecs {
        match name(codec) {
            "transpose" | "reshape" => match encoded_shape(codec, &shape) {
                Some(next) => shape = next,
                None => return false,
            },
            "sharding_indexed" => {
                let inner = numbers(&codec["configuration"]["chunk_shape"]);
                let divides = inner.len() == shape.len()
                    && inner.iter().zip(&shape).all(|(inner, outer)| outer % inner == 0);
                let codecs = codec["configuration"]["codecs"].as_array().expect("a list");
                return divides && allows(codecs, &inner);
            }
            _ => return true,
        }
    }
    true
}

pub(crate) fn encode(codecs: &[Value], of: Type, array: &Array, fill: &[u8]) -> Vec<u8> {
    let mut array = array.clone();
    let mut bytes = Vec::new();
    for codec in codecs {
        match name(codec) {
            "transpose" => {
                let order = numbers(&codec["configuration"]["order"]);
                let shape = encoded_shape(codec, &array.shape).expect("allowed");
                let mut elements = vec![Vec::new(); array.elements.len()];
                for index in indices(&array.shape) {
                    let to: Vec<usize> = order.iter().map(|axis| index[*axis]).collect();
                    elements[place(&to, &shape)] =
                        array.elements[place(&index, &array.shape)].clone();
                }
                array = Array { shape, elements };
            }
            "reshape" => array.shape = encoded_shape(codec, &array.shape).expect("allowed"),
            "crc32c" => bytes.extend_from_slice(&crc32c(&bytes).to_le_bytes()),
            _ => bytes = encode_stored(codec, of, &array, fill),
        }
    }
    bytes
}

fn encode_stored(codec: &Value, of: Type, array: &Array, fill: &[u8]) -> Vec<u8> {
    let configuration = &codec["configuration"];
    let component = of.component();
    match name(codec) {
        "bytes" => {
            let mut bytes = Vec::new();
            for element in &array.elements {
                for part in element.chunks(component) {
                    let mut part = part.to_vec();
                    if configuration["endian"] == "big" {
                        part.reverse();
                    }
                    bytes.extend(part);
                }
            }
            bytes
        }
        "packbits" => {
            let (first, last) = bit_range(configuration, of);
            let mut bits = Vec::new();
            for element in &array.elements {
                for part in element.chunks(component) {
                    for bit in first..=last {
                        bits.push(part[bit / 8] >> (bit % 8) & 1);
                    }
                }
            }
            let padding = (8 - bits.len() % 8) % 8;
            let mut bytes = vec![0; bits.len().div_ceil(8)];
            for (n, bit) in bits.iter().enumerate() {
                bytes[n / 8] |= bit << (n % 8);
            }
            let padding = u8::try_from(padding).expect("below 8");
            match configuration["padding_encoding"].as_str() {
                Some("first_byte") => bytes.insert(0, padding),
                Some("last_byte") => bytes.push(padding),
                _ => {}
            }
            bytes
        }
        "sharding_indexed" => {
            let inner_shape = numbers(&configuration["chunk_shape"]);
            let codecs = configuration["codecs"].as_array().expect("a list");
            let grid: Vec<usize> =
                array.shape.iter().zip(&inner_shape).map(|(outer, inner)| outer / inner).collect();
            let at_start = configuration["index_location"] == "start";
            let index_len =
                encode_index(configuration, &grid, &vec![0; 2 * indices(&grid).len()]).len();
            let mut shard = vec![0; if at_start { index_len } else { 0 }];
            let mut entries = Vec::new();
            for cell in indices(&grid) {
                let inner = cut(array, &cell, &inner_shape);
                if inner.elements.iter().all(|element| element == fill) {
                    entries.extend([u64::MAX, u64::MAX]);
                    continue;
                }
                let bytes = encode(codecs, of, &inner, fill);
                entries.extend([shard.len() as u64, bytes.len() as u64]);
                shard.extend(bytes);
            }
            let index = encode_index(configuration, &grid, &entries);
            if at_start {
                shard[..index_len].copy_from_slice(&index);
            } else {
                shard.extend(index);
            }
            shard
        }
        other => panic!("{other} is no array_to_bytes"),
    }
}

const UINT64: Type = Type { name: "uint64", bits: 64, components: 1, signed: false };

fn encode_index(configuration: &Value, grid: &[usize], entries: &[u64]) -> Vec<u8> {
    let shape = [grid, &[2]].concat();
    let elements = entries.iter().map(|n| n.to_le_bytes().to_vec()).collect();
    let codecs = configuration["index_codecs"].as_array().expect("a list");
    encode(codecs, UINT64, &Array { shape, elements }, &[])
}

/// The elements of one inner chunk.
fn cut(array: &Array, cell: &[usize], inner_shape: &[usize]) -> Array {
    let elements = indices(inner_shape).into_iter().map(|index| {
        let at: Vec<usize> = index
            .iter()
            .zip(cell)
            .zip(inner_shape)
            .map(|((n, cell), size)| cell * size + n)
            .collect();
        array.elements[place(&at, &array.shape)].clone()
    });
    Array { shape: inner_shape.to_vec(), elements: elements.collect() }
}

fn bit_range(configuration: &Value, of: Type) -> (usize, usize) {
    let bit = |member: &str, default: usize| {
        configuration[member].as_u64().map_or(default, |bit| usize::try_from(bit).expect("small"))
    };
    (bit("first_bit", 0), bit("last_bit", of.bits - 1))
}

pub(crate) fn decode(
    codecs: &[Value],
    of: Type,
    shape: &[usize],
    bytes: &[u8],
    fill: &[u8],
) -> Array {
    let Some((codec, rest)) = codecs.split_first() else { panic!("no array_to_bytes") };
    match name(codec) {
        "transpose" => {
            let order = numbers(&codec["configuration"]["order"]);
            let encoded = encoded_shape(codec, shape).expect("allowed");
            let inner = decode(rest, of, &encoded, bytes, fill);
            let elements = indices(shape).into_iter().map(|index| {
                let from: Vec<usize> = order.iter().map(|axis| index[*axis]).collect();
                inner.elements[place(&from, &encoded)].clone()
            });
            Array { shape: shape.to_vec(), elements: elements.collect() }
        }
        "reshape" => {
            let encoded = encoded_shape(codec, shape).expect("allowed");
            let inner = decode(rest, of, &encoded, bytes, fill);
            Array { shape: shape.to_vec(), elements: inner.elements }
        }
        _ => {
            let mut bytes = bytes.to_vec();
            for codec in rest.iter().rev() {
                assert_eq!(name(codec), "crc32c");
                let checksum = bytes.split_off(bytes.len() - 4);
                assert_eq!(checksum, crc32c(&bytes).to_le_bytes());
            }
            decode_stored(codec, of, shape, &bytes, fill)
        }
    }
}

fn decode_stored(codec: &Value, of: Type, shape: &[usize], bytes: &[u8], fill: &[u8]) -> Array {
    let configuration = &codec["configuration"];
    let component = of.component();
    let count: usize = shape.iter().product();
    match name(codec) {
        "bytes" => {
            let elements = bytes.chunks(of.size()).map(|element| {
                let mut element = element.to_vec();
                for part in element.chunks_mut(component) {
                    if configuration["endian"] == "big" {
                        part.reverse();
                    }
                }
                element
            });
            Array { shape: shape.to_vec(), elements: elements.collect() }
        }
        "packbits" => {
            let (first, last) = bit_range(configuration, of);
            let bytes = match configuration["padding_encoding"].as_str() {
                Some("first_byte") => &bytes[1..],
                Some("last_byte") => &bytes[..bytes.len() - 1],
                _ => bytes,
            };
            let mut position = 0;
            let mut elements = Vec::new();
            for _ in 0..count {
                let mut element = Vec::new();
                for _ in 0..of.components {
                    let mut part = vec![0; component];
                    for bit in first..=last {
                        let value = bytes[position / 8] >> (position % 8) & 1;
                        part[bit / 8] |= value << (bit % 8);
                        position += 1;
                    }
                    if of.signed && part[last / 8] >> (last % 8) & 1 == 1 {
                        for bit in last..component * 8 {
                            part[bit / 8] |= 1 << (bit % 8);
                        }
                    }
                    element.extend(part);
                }
                elements.push(element);
            }
            Array { shape: shape.to_vec(), elements }
        }
        "sharding_indexed" => {
            let inner_shape = numbers(&configuration["chunk_shape"]);
            let codecs = configuration["codecs"].as_array().expect("a list");
            let index_codecs = configuration["index_codecs"].as_array().expect("a list");
            let grid: Vec<usize> =
                shape.iter().zip(&inner_shape).map(|(outer, inner)| outer / inner).collect();
            let index_len =
                encode_index(configuration, &grid, &vec![0; 2 * indices(&grid).len()]).len();
            let index = if configuration["index_location"] == "start" {
                &bytes[..index_len]
            } else {
                &bytes[bytes.len() - index_len..]
            };
            let index = decode(index_codecs, UINT64, &[&grid[..], &[2]].concat(), index, &[]);
            let word = |n: usize| {
                let word = index.elements[n].as_slice().try_into().expect("eight bytes");
                usize::try_from(u64::from_le_bytes(word)).expect("64 bits")
            };
            let mut elements = vec![Vec::new(); count];
            for (number, cell) in indices(&grid).into_iter().enumerate() {
                let (offset, length) = (word(2 * number), word(2 * number + 1));
                let inner = (offset != usize::MAX).then(|| {
                    decode(codecs, of, &inner_shape, &bytes[offset..offset + length], fill)
                });
                for index in indices(&inner_shape) {
                    let at: Vec<usize> = index
                        .iter()
                        .zip(&cell)
                        .zip(&inner_shape)
                        .map(|((n, cell), size)| cell * size + n)
                        .collect();
                    elements[place(&at, shape)] = inner.as_ref().map_or(fill.to_vec(), |inner| {
                        inner.elements[place(&index, &inner_shape)].clone()
                    });
                }
            }
            Array { shape: shape.to_vec(), elements }
        }
        other => panic!("{other} is no array_to_bytes"),
    }
}

/// CRC-32C (Castagnoli), one bit at a time.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    !crc
}
