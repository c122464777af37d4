//! Calls of the C library: two, each with the lengths of both buffers.
//!
//! Neither call keeps state or starts threads; the one global that they share, which records the
//! shuffle instructions of the processor, is initialised through `pthread_once`.

/// Bytes of the header, and the most that encoding adds.
pub(super) const HEADER: usize = 16;

/// The longest input: the header counts bytes in 31 bits.
pub(super) const LONGEST: usize = 0x7fff_ffff - HEADER;

/// The longest output that the library can count.
const MOST: usize = 0x7fff_ffff;

/// The parameters of a compression by the library.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) compressor: &'static std::ffi::CStr,
    pub(super) level: u8,
    pub(super) shuffle: u8,
    pub(super) type_size: u8,
    pub(super) block_size: u32,
}

/// Decompresses `encoded`. The caller has checked that its header states its own length, and that
/// `out` is long enough. Returns the number of bytes written, `None` if `encoded` is not valid.
pub(super) fn decompress(encoded: &[u8], out: &mut [u8]) -> Option<usize> {
    let (Some(header), true) = (encoded.first_chunk::<HEADER>(), out.len() <= LONGEST) else {
        return None;
    };
    // The library trusts these two lengths, so they are compared here, before the call.
    let [.., e0, e1, e2, e3] = *header;
    if usize::try_from(u32::from_le_bytes([e0, e1, e2, e3])) != Ok(encoded.len()) {
        return None;
    }
    #[expect(unsafe_code, reason = "a call of the C library")]
    // SAFETY: `encoded` is readable for its length. This is at least the header's length and equals
    // the encoded length in the header, which bounds all reads of the library: it refuses block
    // starts and block lengths that lead past it. `out` is writable for the length that is passed,
    // and the library refuses decoded lengths and block sizes above it; that length fits an `int`.
    // The buffers do not overlap, since one is borrowed exclusively. One internal thread is this
    // one.
    let written = unsafe {
        blosc_src::blosc_decompress_ctx(
            encoded.as_ptr().cast(),
            out.as_mut_ptr().cast(),
            out.len(),
            1,
        )
    };
    usize::try_from(written).ok()
}

/// Compresses `decoded` into the spare capacity of `out`, and sets the length of `out` to the bytes
/// written. `None` on failure, and for an output of no bytes.
///
/// The capacity is not zeroed first: most of it is for the worst case and never written.
pub(super) fn compress(decoded: &[u8], out: &mut Vec<u8>, settings: &Settings) -> Option<()> {
    out.clear();
    let spare = out.spare_capacity_mut();
    if decoded.len() > LONGEST {
        return None;
    }
    // A block is at most the whole input.
    let block_size = usize::try_from(settings.block_size).ok()?.min(decoded.len());
    #[expect(unsafe_code, reason = "a call of the C library")]
    // SAFETY: `decoded` is readable and `spare` writable for the lengths that are passed; both, the
    // level (0 to 9), the shuffle (0 to 2) and the block size fit an `int`, and the library writes
    // no further than the second length and reads nothing there that it has not written. The name
    // ends with a zero byte. The buffers do not overlap, since one is borrowed exclusively. One
    // internal thread is this one.
    let written = unsafe {
        blosc_src::blosc_compress_ctx(
            settings.level.into(),
            settings.shuffle.into(),
            settings.type_size.into(),
            decoded.len(),
            decoded.as_ptr().cast(),
            spare.as_mut_ptr().cast(),
            spare.len().min(MOST),
            settings.compressor.as_ptr(),
            block_size,
            1,
        )
    };
    let written =
        usize::try_from(written).ok().filter(|written| (1..=spare.len()).contains(written))?;
    #[expect(unsafe_code, reason = "what the C library has written")]
    // SAFETY: `out` is empty, and the library has written this many bytes, no more than the
    // capacity, from its start on.
    unsafe {
        out.set_len(written);
    }
    Some(())
}
