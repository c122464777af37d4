//! `numcodecs.lzma`: one or more xz containers in a row; the older LZMA container; and the output
//! of filters without a container.

use std::io::{self, Read, Write as _};

use liblzma::bufread::XzDecoder;
use liblzma::stream::{
    CONCATENATED, Check, Error, Filters, LzmaOptions, MatchFinder, Mode, Stream,
};
use liblzma::write::XzEncoder;
use zarr_metadata::{Lzma as Configuration, LzmaCheck, LzmaFilter, LzmaFormat};

use super::stream::{StreamFormat, bytes_after};
use crate::error::ChainErrorKind;

/// The most memory that a decoder may take. Its dictionary is as long as the header says, even for
/// a short chunk: up to 64 MiB for the presets, at preset 9. Memory that is not needed is not
/// touched.
const MEMORY: u64 = 128 << 20;

/// The longest dictionary that a chain of filters may ask for, which no header repeats.
const MOST_DICTIONARY: u32 = 64 << 20;

const DEFAULT_PRESET: u32 = 6;

#[derive(Debug)]
pub(super) struct Lzma {
    format: LzmaFormat,
    check: Check,
    preset: u32,
    filters: Vec<LzmaFilter>,
}

impl Lzma {
    pub(super) fn new(configuration: &Configuration) -> Result<Self, ChainErrorKind> {
        for filter in &configuration.filters {
            if let Some(size) = filter.option("dict_size").filter(|size| *size > MOST_DICTIONARY) {
                let what = format!("a dictionary of {size} bytes");
                return Err(ChainErrorKind::NotHere { what });
            }
        }
        let lzma = Self {
            format: configuration.format,
            check: match configuration.check {
                Some(LzmaCheck::None) => Check::None,
                Some(LzmaCheck::Crc32) => Check::Crc32,
                Some(LzmaCheck::Crc64) | None => Check::Crc64,
                Some(LzmaCheck::Sha256) => Check::Sha256,
            },
            preset: configuration.preset.unwrap_or(DEFAULT_PRESET),
            filters: configuration.filters.clone(),
        };
        // Whether the library accepts this combination of options.
        if lzma.format == LzmaFormat::Raw {
            lzma.raw_decoder().map_err(|error| ChainErrorKind::NotHere {
                what: format!("this chain of filters ({error})"),
            })?;
        }
        Ok(lzma)
    }

    /// The filters in the library's types.
    fn filters(&self) -> Result<Filters, Error> {
        let mut filters = Filters::new();
        for filter in &self.filters {
            let start = filter.option("start_offset").unwrap_or(0).to_le_bytes();
            match filter.id() {
                LzmaFilter::LZMA1 => filters.lzma1(&lzma_options(filter)?),
                LzmaFilter::LZMA2 => filters.lzma2(&lzma_options(filter)?),
                3 => {
                    let less_one = filter.option("dist").unwrap_or(1).saturating_sub(1);
                    filters.delta_properties(&[u8::try_from(less_one).unwrap_or(u8::MAX)])?
                }
                4 => filters.x86_properties(&start)?,
                5 => filters.powerpc_properties(&start)?,
                6 => filters.ia64_properties(&start)?,
                7 => filters.arm_properties(&start)?,
                8 => filters.arm_thumb_properties(&start)?,
                9 => filters.sparc_properties(&start)?,
                _ => return Err(Error::Options),
            };
        }
        Ok(filters)
    }

    fn raw_decoder(&self) -> Result<Stream, Error> {
        Stream::new_raw_decoder(&self.filters()?)
    }

    fn encoder(&self) -> io::Result<Stream> {
        let unsupported = |reason| Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        let stream = match self.format {
            LzmaFormat::Raw => self.filters().and_then(|filters| Stream::new_raw_encoder(&filters)),
            // numcodecs cannot write format 0, nor read filters in a container.
            LzmaFormat::Auto => return unsupported("format 0 is for reading"),
            _ if !self.filters.is_empty() => {
                return unsupported("numcodecs reads filters only where format is 3");
            }
            LzmaFormat::Alone => LzmaOptions::new_preset(self.preset)
                .and_then(|options| Stream::new_lzma_encoder(&options)),
            LzmaFormat::Xz => Stream::new_easy_encoder(self.preset, self.check),
        };
        Ok(stream?)
    }
}

impl StreamFormat for Lzma {
    /// A match of 273 bytes takes 14 decisions of 0.022 bits each at least.
    const MOST_EXPANSION: u64 = 8192;

    type Reader<'e> = Reader<'e>;

    fn reader<'e>(&self, encoded: &'e [u8]) -> io::Result<Self::Reader<'e>> {
        let stream = match self.format {
            LzmaFormat::Alone => Stream::new_lzma_decoder(MEMORY),
            LzmaFormat::Auto => Stream::new_auto_decoder(MEMORY, CONCATENATED),
            LzmaFormat::Xz => Stream::new_stream_decoder(MEMORY, CONCATENATED),
            LzmaFormat::Raw => self.raw_decoder(),
        };
        Ok(Reader(XzDecoder::new_stream(encoded, stream?)))
    }

    fn room(decoded: usize) -> usize {
        // Chunks of 64 KiB that are stored uncompressed take three bytes more.
        decoded.saturating_add(decoded / 8192).saturating_add(256)
    }

    fn compress(&self, decoded: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let mut encoder = XzEncoder::new_stream(out, self.encoder()?);
        encoder.write_all(decoded)?;
        encoder.finish().map(drop)
    }
}

/// A decoder that refuses bytes after the end of its stream, which the library's own accepts.
pub(super) struct Reader<'e>(XzDecoder<&'e [u8]>);

impl Read for Reader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match (self.0.read(out)?, self.0.get_ref().len()) {
            (0, rest) if rest > 0 && !out.is_empty() => Err(bytes_after(rest)),
            (read, _) => Ok(read),
        }
    }
}

/// The options of a filter: the given options, otherwise the preset's.
fn lzma_options(filter: &LzmaFilter) -> Result<LzmaOptions, Error> {
    let mut options = LzmaOptions::new_preset(filter.option("preset").unwrap_or(DEFAULT_PRESET))?;
    type Set = fn(&mut LzmaOptions, u32) -> &mut LzmaOptions;
    let plain: [(&str, Set); 6] = [
        ("dict_size", LzmaOptions::dict_size),
        ("lc", LzmaOptions::literal_context_bits),
        ("lp", LzmaOptions::literal_position_bits),
        ("pb", LzmaOptions::position_bits),
        ("nice_len", LzmaOptions::nice_len),
        ("depth", LzmaOptions::depth),
    ];
    for (name, set) in plain {
        if let Some(value) = filter.option(name) {
            set(&mut options, value);
        }
    }
    if let Some(mode) = filter.option("mode") {
        options.mode(if mode == 1 { Mode::Fast } else { Mode::Normal });
    }
    if let Some(finder) = filter.option("mf") {
        options.match_finder(match finder {
            3 => MatchFinder::HashChain3,
            4 => MatchFinder::HashChain4,
            18 => MatchFinder::BinaryTree2,
            19 => MatchFinder::BinaryTree3,
            _ => MatchFinder::BinaryTree4,
        });
    }
    Ok(options)
}
