//! How large the code of each kernel is: the sections `.text.NAME` of the object file (ELF, 64 bits,
//! little-endian) that the assembler writes.

use std::collections::BTreeMap;

use crate::driver::Target;

/// The bytes of each kernel's code. What isn't such a file has none.
pub fn code_sizes(object: &[u8]) -> BTreeMap<String, usize> {
    sections(object).unwrap_or_default()
}

/// The instructions in some bytes of code. Until sm_6x one takes 8 bytes and every fourth word says
/// how the three after it are issued; from sm_70 on one takes 16 bytes.
pub fn instructions(bytes: usize, target: Target) -> u32 {
    let count = if target.0 < 70 { bytes / 32 * 3 } else { bytes / 16 };
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn sections(object: &[u8]) -> Option<BTreeMap<String, usize>> {
    object.starts_with(b"\x7fELF\x02\x01").then_some(())?;
    let headers = number(object, 0x28, 8)?;
    let (size, count) = (number(object, 0x3a, 2)?, number(object, 0x3c, 2)?);
    let header = |k: usize| object.get(headers + k * size..headers + (k + 1) * size);
    let names = number(header(number(object, 0x3e, 2)?)?, 0x18, 8)?;
    let mut out = BTreeMap::new();
    for k in 0..count {
        let header = header(k)?;
        let name = object.get(names + number(header, 0, 4)?..)?;
        let name = name.split(|b| *b == 0).next()?;
        if let Some(kernel) = name.strip_prefix(b".text.") {
            out.insert(String::from_utf8_lossy(kernel).into_owned(), number(header, 0x20, 8)?);
        }
    }
    Some(out)
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + width)?;
    bytes.iter().rev().try_fold(0usize, |n, b| n.checked_mul(256)?.checked_add(usize::from(*b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_by_its_section() {
        // a header, the names at 64, two section headers at 96: the code, and the names
        let mut object = vec![0u8; 96 + 2 * 64];
        object[..6].copy_from_slice(b"\x7fELF\x02\x01");
        object[0x28] = 96;
        object[0x3a] = 64;
        object[0x3c] = 2;
        object[0x3e] = 1;
        object[64..73].copy_from_slice(b"\0.text.k\0");
        object[96] = 1;
        object[96 + 0x20..96 + 0x22].copy_from_slice(&[0x80, 2]);
        object[160 + 0x18] = 64;
        let sizes = code_sizes(&object);
        assert_eq!(sizes, [("k".to_string(), 640)].into_iter().collect());
        assert_eq!((instructions(640, Target(70)), instructions(640, Target(60))), (40, 60));
        assert!(code_sizes(&object[..100]).is_empty() && code_sizes(b"").is_empty());
    }
}
