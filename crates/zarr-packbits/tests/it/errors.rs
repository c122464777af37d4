//! The text of each error.

use zarr_packbits::{Error, Packing, PaddingEncoding};

#[track_caller]
fn message<T: core::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn messages_say_what_was_found_and_what_is_allowed() {
    let bool = Packing::builder(1).build().unwrap();
    let int16 = Packing::builder(16).signed(true).build().unwrap();
    let ten = Packing::builder(16).last_bit(9).build().unwrap();
    let messages = [
        message(Packing::builder(0).build()),
        message(Packing::builder(65).build()),
        message(Packing::builder(8).components(3).build()),
        message(Packing::builder(16).last_bit(16).build()),
        message(Packing::builder(16).first_bit(9).last_bit(8).build()),
        message(Packing::builder(6).first_bit(6).build()),
        message(ten.pack(&[0; 3], &mut [])),
        message(ten.pack(&[0; 4], &mut [0; 2])),
        message(ten.unpack(&[0; 4], &mut [0; 4])),
        message(ten.unpack_range(&[0; 4], PaddingEncoding::None, 1, &mut [0; 6])),
        message(ten.unpack_range(&[0; 4], PaddingEncoding::None, 9, &mut [0; 2])),
        message(ten.pack_range(&[0; 6], PaddingEncoding::None, 1, &mut [0; 4])),
        message(ten.unpack_at(&[0; 4], 33, &mut [])),
        message(Packing::builder(64).build().unwrap().unpack_range(
            &[],
            PaddingEncoding::None,
            usize::MAX,
            &mut [],
        )),
        message(bool.decode(&[0; 3], PaddingEncoding::None, &mut [0; 8])),
        message(bool.decode(&[9, 0], PaddingEncoding::FirstByte, &mut [0; 7])),
        message(int16.decode(&[1, 0, 2, 0], PaddingEncoding::LastByte, &mut [0; 4])),
        message(int16.encode(&[1, 0], PaddingEncoding::LastByte, &mut [0; 4])),
        message(ten.refuse_loss(true).pack(&[0, 3, 0, 4], &mut [0; 3])),
    ];
    // One of them names the largest `usize`.
    let all = messages.join("\n").replace(&usize::MAX.to_string(), &u64::MAX.to_string());
    insta::assert_snapshot!(all);
}

#[test]
fn no_length_panics() {
    // Every small length of both buffers, every start: valid ones work, others are errors.
    for packing in [
        Packing::builder(1).build().unwrap(),
        Packing::builder(16).last_bit(10).components(2).build().unwrap(),
        Packing::builder(64).first_bit(3).last_bit(61).build().unwrap(),
    ] {
        for packed in 0..24 {
            for unpacked in 0..40 {
                let mut packed = vec![0; packed];
                let mut unpacked = vec![0; unpacked];
                let whole = unpacked.len() % packing.element_size() == 0;
                let n = unpacked.len() / packing.element_size();
                let exact = whole && packing.packed_len(n) == Some(packed.len());
                assert_eq!(packing.pack(&unpacked, &mut packed).is_ok(), exact);
                assert_eq!(packing.unpack(&packed, &mut unpacked).is_ok(), exact);
                for at in (0..30).chain([usize::MAX / 8, usize::MAX - 1, usize::MAX]) {
                    let fits = |bit: Option<usize>| {
                        let end = bit.and_then(|bit| bit.checked_add(n * packing.bits() as usize));
                        whole && end.is_some_and(|end| end <= 8 * packed.len())
                    };
                    let (by_element, by_bit) =
                        (fits(at.checked_mul(packing.bits() as usize)), fits(Some(at)));
                    assert_eq!(
                        packing
                            .unpack_range(&packed, PaddingEncoding::None, at, &mut unpacked)
                            .is_ok(),
                        by_element
                    );
                    assert_eq!(
                        packing
                            .pack_range(&unpacked, PaddingEncoding::None, at, &mut packed.clone())
                            .is_ok(),
                        by_element
                    );
                    assert_eq!(packing.unpack_at(&packed, at, &mut unpacked).is_ok(), by_bit);
                    assert_eq!(packing.pack_at(&unpacked, at, &mut packed.clone()).is_ok(), by_bit);
                }
            }
        }
    }
}
