//! `filters` and `compressor` of version 2: one chain of version 3.

use std::borrow::Cow;

use super::data_type::{Dtype, ParsedDtype};
use super::writers::{Amended, Writers};
use crate::codec::{
    Blosc, BloscShuffle, Bytes, Codec, CodecKind, Endian, NumcodecsBlosc, Transpose, Zstd,
};
use crate::data_type::DataType;
use crate::error::{At, MetadataError, Result};
use crate::json::{Grammar, JsonType, Object, Outline, Raw, read_elements, write_string};
use crate::limits::check_codecs;

/// The codecs of numcodecs that are read, each by its id.
const IDS: &[&str] = &[
    "adler32",
    "astype",
    "bitround",
    "blosc",
    "bz2",
    "crc32",
    "crc32c",
    "delta",
    "fixedscaleoffset",
    "fletcher32",
    "gzip",
    "jenkins_lookup3",
    "lz4",
    "lzma",
    "packbits",
    "pcodec",
    "quantize",
    "shuffle",
    "zfpy",
    "zlib",
    "zstd",
];

const ALLOWED: &str = "the id of a codec of numcodecs that is read: a compressor (blosc, bz2, gzip, \
    lz4, lzma, pcodec, zfpy, zlib, zstd), a filter (astype, bitround, delta, fixedscaleoffset, \
    packbits, quantize, shuffle) or a checksum";
const ALLOWED_OF_IMAGECODECS: &str = "imagecodecs_ before blosc, bz2, deflate, gzip, lz4 with its header, \
    lzma, zlib or zstd: others are no codecs of numcodecs";
const OBJECTS: &str = "vlen-utf8, vlen-bytes or json2 as the first filter of objects: they are read \
    as strings, bytes or JSON text, and as nothing else";

/// One codec of the document, with its place in it.
struct Given<'a> {
    raw: Raw<'a>,
    /// The element of `filters`, or `None` for `compressor`.
    filter: Option<usize>,
}

impl Given<'_> {
    fn path(&self) -> String {
        match self.filter {
            Some(index) => format!("$.filters[{index}]"),
            None => "$.compressor".to_owned(),
        }
    }

    fn at<T>(&self, result: Result<T>) -> Result<T> {
        match self.filter {
            Some(index) => result.element(index).member("filters"),
            None => result.member("compressor"),
        }
    }
}

/// The type of the elements, and the chain of version 3.
///
/// `is_fortran` says that the elements of a chunk are stored with the first dimension varying
/// fastest: a transpose before everything else.
pub(super) fn translate(
    found: ParsedDtype,
    rank: usize,
    is_fortran: bool,
    (filters, compressor): (Option<Raw<'_>>, Option<Raw<'_>>),
    writers: &mut Writers,
) -> Result<(Dtype, Vec<Codec>)> {
    let given = given(filters, compressor)?;
    check_codecs(given.len()).member("filters")?;
    let (dtype, mut chain, given) = match found {
        ParsedDtype::Fixed(dtype) => (dtype, Chain::new(Some(rank)), given.as_slice()),
        ParsedDtype::Objects => {
            let (data_type, codec) = objects(&given)?;
            let chain = Chain { after: Some(codec), ..Chain::new(Some(rank)) };
            (Dtype { data_type, order: None }, chain, given.get(1..).unwrap_or_default())
        }
    };
    chain.current = Some(dtype.clone());
    // JSON has nested arrays, always in C order, even if the document declares another order.
    let is_nested = chain.after == Some(Codec::NumcodecsJson2);
    if is_fortran && rank > 1 && !is_nested {
        chain.codecs.push(Codec::Transpose(Transpose::new((0..rank).rev().collect::<Vec<_>>())));
    }
    if let Some(codec) = chain.after.take() {
        chain.end(codec);
    }
    for one in given {
        one.at(chain.push(one.raw, &one.path(), writers))?;
    }
    chain.add_bytes();
    Ok((dtype, chain.codecs))
}

fn given<'a>(filters: Option<Raw<'a>>, compressor: Option<Raw<'a>>) -> Result<Vec<Given<'a>>> {
    let is_there = |raw: &Raw<'_>| raw.json_type() != JsonType::Null;
    let mut given = Vec::new();
    if let Some(raw) = filters.filter(is_there) {
        let raws = read_elements(raw, "null or an array of codecs", Ok).member("filters")?;
        let filters = raws.into_iter().enumerate();
        given.extend(filters.map(|(index, raw)| Given { raw, filter: Some(index) }));
    }
    given.extend(compressor.filter(is_there).map(|raw| Given { raw, filter: None }));
    Ok(given)
}

/// The data type of objects, as the codec that makes bytes of them tells, and this codec.
fn objects(given: &[Given<'_>]) -> Result<(DataType, Codec)> {
    let none = || MetadataError::unexpected("objects without a codec", OBJECTS).in_member("dtype");
    let first = given.first().filter(|first| first.filter.is_some()).ok_or_else(none)?;
    let read = || {
        let mut members = Object::read(first.raw, "a codec, an object with an id")?;
        let raw = members.require("id", OBJECTS)?;
        let id = raw.string(OBJECTS).member("id")?;
        let allowed = match id.as_ref() {
            "vlen-utf8" => return Ok((DataType::String, Codec::VlenUtf8)),
            "vlen-bytes" => return Ok((DataType::Bytes, Codec::VlenBytes)),
            "json2" => {
                let given = members.rest().map(|(name, raw)| (name, raw.text().into())).collect();
                let configuration = Configuration::read("json2", given)?;
                let codec = Codec::of_numcodecs("numcodecs.json2", &configuration.text)?;
                return Ok((DataType::String, codec));
            }
            "pickle" => {
                "vlen-utf8, vlen-bytes or json2 as the first filter of objects: pickled objects \
                 are not read, since reading them runs code that the file contains"
            }
            _ => OBJECTS,
        };
        Err(raw.expected(allowed).in_member("id"))
    };
    first.at(read())
}

/// A chain that grows from the elements to the stored bytes.
struct Chain {
    codecs: Vec<Codec>,
    /// The type of the next codec's input; `None` for bytes.
    current: Option<Dtype>,
    /// The number of dimensions of the next codec's input, where it is known.
    rank: Option<usize>,
    /// The codec that makes bytes of objects, until it is added to the chain.
    after: Option<Codec>,
}

impl Chain {
    fn new(rank: Option<usize>) -> Self {
        Chain { codecs: Vec::new(), current: None, rank, after: None }
    }

    /// Adds a codec that makes bytes of elements.
    fn end(&mut self, codec: Codec) {
        self.codecs.push(codec);
        self.current = None;
    }

    /// Adds `bytes` if the next codec's input is elements.
    fn add_bytes(&mut self) {
        if let Some(Dtype { order, .. }) = self.current.take() {
            self.codecs.push(Codec::Bytes(Bytes::new(order)));
        }
    }

    /// The size in bytes of the elements of a compressor's input; 1 if it is bytes.
    fn element_size(&self) -> u64 {
        let size = self.current.as_ref().and_then(|dtype| dtype.data_type.size());
        size.and_then(|size| u64::try_from(size).ok()).unwrap_or(1)
    }

    /// Adds a codec of the document.
    fn push(&mut self, raw: Raw<'_>, path: &str, writers: &mut Writers) -> Result<()> {
        let mut members = Object::read(raw, "a codec, an object with an id")?;
        let id = members.require("id", ALLOWED)?;
        let name = id.string(ALLOWED).member("id")?;
        let given: Vec<_> = members.rest().collect();
        let (name, given) = writers.of_imagecodecs(path, name, given);
        if !IDS.contains(&name.as_ref()) {
            let allowed = match name.as_ref() {
                "vlen-utf8" | "vlen-bytes" | "json2" => {
                    "another codec: this one is for dtype \"|O\""
                }
                name if name.starts_with("imagecodecs_") => ALLOWED_OF_IMAGECODECS,
                _ => ALLOWED,
            };
            return Err(id.expected(allowed).in_member("id"));
        }
        for (member, raw) in &given {
            // Words for numbers that are not finite are no JSON.
            Outline::read(raw.text(), Grammar::Json).member(member)?;
        }
        let Amended { id: name, members } = writers.codec(path, name, given, self.element_size());
        let Configuration { text, given, stored, rounded } = Configuration::read(&name, members)?;
        let codec = Codec::of_numcodecs(&format!("numcodecs.{name}"), &text)?;
        if codec.kind() == Some(CodecKind::BytesToBytes) {
            let codec = self.of_the_core(codec);
            self.add_bytes();
            self.codecs.push(codec);
            return Ok(());
        }
        let Some(current) = &self.current else {
            let before = self.codecs.last().map_or("bytes", Codec::name);
            let before = before.strip_prefix("numcodecs.").unwrap_or(before);
            let allowed = "codecs of elements before codecs of bytes, as in version 3";
            let found = format!("{name} after {before}");
            return Err(MetadataError::unexpected(found, allowed));
        };
        if let (Some(given), Some(order)) = (given, current.order)
            && given != order
        {
            let found = format!("{name} of {} elements", described(given));
            let allowed = format!("{} ones, which reach the codec", described(order));
            return Err(MetadataError::unexpected(found, allowed));
        }
        match codec.output_of(&current.data_type, self.rank)? {
            Some((data_type, rank)) => {
                let order = stored.or(given).or(current.order);
                let order = order.filter(|_| data_type.has_byte_order());
                self.codecs.push(codec);
                self.rank = rank;
                self.current = Some(Dtype { data_type, order });
            }
            None if current.order == Some(Endian::Big) => {
                let found = format!("{name} of big-endian elements");
                let allowed = "little-endian elements";
                return Err(MetadataError::unexpected(found, allowed));
            }
            None => self.end(codec),
        }
        match rounded {
            Some(text) => self.round(&text, stored),
            None => Ok(()),
        }
    }

    /// Adds the other type in which `quantize` stores the rounded values: a separate codec in
    /// version 3.
    fn round(&mut self, text: &str, stored: Option<Endian>) -> Result<()> {
        let codec = Codec::of_numcodecs("numcodecs.astype", text)?;
        let Some(current) = &self.current else { return Ok(()) };
        if let Some((data_type, rank)) = codec.output_of(&current.data_type, self.rank)?
            && data_type != current.data_type
        {
            self.codecs.push(codec);
            self.rank = rank;
            let order = stored.filter(|_| data_type.has_byte_order());
            self.current = Some(Dtype { data_type, order });
        }
        Ok(())
    }

    /// A codec of the core of version 3 where that has the same bytes.
    fn of_the_core(&self, codec: Codec) -> Codec {
        match codec {
            Codec::NumcodecsGzip(deflate) => match u32::try_from(deflate.level) {
                Ok(level) => Codec::gzip(level),
                Err(_) => codec,
            },
            Codec::NumcodecsZstd(zstd) => {
                Codec::Zstd(Zstd::new(zstd.level).with_checksum(zstd.checksum))
            }
            Codec::NumcodecsBlosc(blosc) => {
                let NumcodecsBlosc { cname, clevel, shuffle, typesize, blocksize } = blosc;
                // numcodecs takes the size from the elements that it is given, blosc one at most.
                let size = typesize.unwrap_or_else(|| self.element_size());
                let size = if size > 255 { 1 } else { size };
                let shuffle = shuffle.unwrap_or(match size {
                    1 => BloscShuffle::BitShuffle,
                    _ => BloscShuffle::Shuffle,
                });
                let blosc = Blosc::new(cname, clevel).with_shuffle(shuffle, size);
                Codec::Blosc(blosc.with_blocksize(blocksize))
            }
            codec => codec,
        }
    }
}

fn described(order: Endian) -> &'static str {
    match order {
        Endian::Little => "little-endian",
        Endian::Big => "big-endian",
    }
}

/// The members of a codec as version 3 has them.
///
/// There only the codec `bytes` has a byte order, so that types lose theirs here.
struct Configuration {
    text: String,
    /// The byte order of the elements that the codec is given, if it says one.
    given: Option<Endian>,
    /// The byte order of the stored values, if given.
    stored: Option<Endian>,
    /// The configuration of the codec `astype` that follows `quantize`.
    rounded: Option<String>,
}

impl Configuration {
    fn read(id: &str, members: Vec<(Cow<'_, str>, Cow<'_, str>)>) -> Result<Self> {
        let (mut given, mut stored, mut rounded) = (None, None, None);
        let mut text = "{".to_owned();
        for (name, json) in members {
            let outline = Outline::read(&json, Grammar::Json).member(&name)?;
            let raw = outline.root();
            let order = match name.as_ref() {
                "dtype" | "decode_dtype" => Some(&mut given),
                "astype" | "encode_dtype" => Some(&mut stored),
                _ => None,
            };
            let mut value = json.to_string();
            if let Some(order) = order.filter(|_| raw.json_type() == JsonType::String) {
                *order = Some(Endian::Little);
                if value.starts_with("\">") {
                    // The text of no type is refused unchanged.
                    *order = Dtype::read(raw).member(&name)?.order;
                    value.replace_range(1..2, "<");
                }
            }
            if (id, name.as_ref()) == ("quantize", "astype") && raw.json_type() != JsonType::Null {
                rounded = Some(format!("{{\"encode_dtype\": {value}}}"));
                continue;
            }
            text.push_str(if text.len() > 1 { ", " } else { "" });
            write_string(&name, &mut text);
            text.push_str(": ");
            text.push_str(&value);
        }
        text.push('}');
        Ok(Configuration { text, given, stored, rounded })
    }
}
