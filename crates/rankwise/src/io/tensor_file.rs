//! Named tensors and named texts in one file: the safetensors container with a checksum, the same bytes every time.
//!
//! A file is the header's length (8 bytes, little-endian), the header (JSON, padded with blanks to a multiple of 8) and
//! the numbers of all tensors one after the other. The header is written here because the safetensors crate writes
//! metadata in random order; what is read is checked by the crate.
//!
//! The entry `sha256` is over everything else, in order of names, each part preceded by its length as a little-endian
//! u64, so that different contents never hash the same bytes:
//! n_texts, (name, text)…, n_tensors, (name, dtype, n_dimensions, dimension…, numbers)…
//! It guards against damage; it is no signature.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use sha2::{Digest, Sha256};

/// What every reader of safetensors accepts.
const MAX_HEADER: u64 = 100_000_000;
const LENGTH_BYTES: usize = 8;
const TEXTS: &str = "__metadata__";
const CHECKSUM: &str = "sha256";

/// What is wrong with a file, and what to do.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) problem: String,
    pub(super) remedy: &'static str,
}

impl Fault {
    /// The file is something else.
    pub(super) fn foreign(problem: impl Into<String>) -> Self {
        Fault { problem: problem.into(), remedy: "give a model file written by rankwise" }
    }

    /// The file was one of ours once.
    pub(super) fn damaged(problem: impl Into<String>) -> Self {
        Fault { problem: problem.into(), remedy: "copy the file again from its source, or train the model again" }
    }

    /// The file is from another version.
    pub(super) fn newer(problem: impl Into<String>) -> Self {
        Fault { problem: problem.into(), remedy: "update rankwise, or train the model again with this version" }
    }
}

/// Numbers of one type and their shape.
pub(super) struct Tensor<'a> {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    /// Little-endian.
    pub(super) data: Cow<'a, [u8]>,
}

/// What is in a file.
#[derive(Default)]
pub(super) struct TensorFile<'a> {
    pub(super) texts: BTreeMap<String, String>,
    pub(super) tensors: BTreeMap<String, Tensor<'a>>,
}

impl<'a> TensorFile<'a> {
    /// The bytes of the file, checksum added.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let mut texts = self.texts.clone();
        texts.insert(CHECKSUM.into(), self.checksum());
        // As the crate does: wider types first, so that every tensor is aligned to its type.
        let mut tensors: Vec<_> = self.tensors.iter().collect();
        tensors.sort_by(|(a_name, a), (b_name, b)| b.dtype.cmp(&a.dtype).then(a_name.cmp(b_name)));

        let mut header = format!("{{{TEXTS:?}:{}", to_json(&texts)?);
        let mut end = 0;
        for (name, tensor) in &tensors {
            let start = end;
            end += tensor.data.len();
            let info = TensorInfo { dtype: tensor.dtype, shape: tensor.shape.clone(), data_offsets: (start, end) };
            header.push_str(&format!(",{}:{}", to_json(name)?, to_json(&info)?));
        }
        header.push('}');
        while !header.len().is_multiple_of(LENGTH_BYTES) {
            header.push(' ');
        }
        if header.len() as u64 > MAX_HEADER {
            return Err(format!(
                "names and texts take {} bytes, a model file holds {MAX_HEADER} at most",
                header.len()
            ));
        }
        let mut bytes = Vec::with_capacity(LENGTH_BYTES + header.len() + end);
        bytes.extend((header.len() as u64).to_le_bytes());
        bytes.extend(header.as_bytes());
        tensors.iter().for_each(|(_, tensor)| bytes.extend(tensor.data.as_ref()));
        Ok(bytes)
    }

    /// Reads the bytes of a file. Numbers are borrowed; nothing is allocated that the file's size does not bound.
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Result<Self, Fault> {
        let header_length = header_length(bytes)?;
        let (header, data) = bytes[LENGTH_BYTES..].split_at_checked(header_length).ok_or_else(|| {
            let found = bytes.len() - LENGTH_BYTES;
            Fault::damaged(format!("it is truncated: its header has {header_length} bytes, {found} are there"))
        })?;
        let header = std::str::from_utf8(header).map_err(|e| Fault::damaged(format!("its header is no text: {e}")))?;
        let Header { texts, mut tensors } = serde_json::from_str(header)
            .map_err(|e| Fault::damaged(format!("its header is not that of a safetensors file: {e}")))?;
        tensors.sort_by_key(|(_, info)| info.data_offsets);
        // Checks that the tensors follow each other without gaps and have as many bytes as their shapes say.
        let checked =
            Metadata::new(None, tensors).map_err(|e| Fault::damaged(format!("its header contradicts itself: {e}")))?;
        if checked.data_len() != data.len() {
            let (wanted, found) = (checked.data_len(), data.len());
            let problem = if found < wanted { "it is truncated" } else { "something follows its end" };
            return Err(Fault::damaged(format!("{problem}: its tensors have {wanted} bytes, {found} are there")));
        }
        let mut file = TensorFile { texts, tensors: BTreeMap::new() };
        for (name, info) in checked.tensors() {
            let (start, end) = info.data_offsets;
            let data = data.get(start..end).ok_or_else(|| Fault::damaged(format!("tensor {name:?} is truncated")))?;
            let tensor = Tensor { dtype: info.dtype, shape: info.shape.clone(), data: Cow::Borrowed(data) };
            file.tensors.insert(name, tensor);
        }
        Ok(file)
    }

    /// Compares the checksum, and takes it out.
    pub(super) fn verify(&mut self) -> Result<(), Fault> {
        match self.texts.remove(CHECKSUM) {
            None => Err(Fault::damaged(format!("it has no checksum (entry {CHECKSUM:?})"))),
            // Fuzzing would never get past it.
            Some(found) if cfg!(fuzzing) || found == self.checksum() => Ok(()),
            Some(_) => Err(Fault::damaged("its checksum is wrong: it was damaged or changed after training")),
        }
    }

    fn checksum(&self) -> String {
        let mut hash = Sha256::new();
        let length = |hash: &mut Sha256, n: usize| hash.update((n as u64).to_le_bytes());
        let part = |hash: &mut Sha256, bytes: &[u8]| {
            length(hash, bytes.len());
            hash.update(bytes);
        };
        length(&mut hash, self.texts.len());
        for (name, text) in &self.texts {
            part(&mut hash, name.as_bytes());
            part(&mut hash, text.as_bytes());
        }
        length(&mut hash, self.tensors.len());
        for (name, tensor) in &self.tensors {
            part(&mut hash, name.as_bytes());
            part(&mut hash, tensor.dtype.to_string().as_bytes());
            length(&mut hash, tensor.shape.len());
            tensor.shape.iter().for_each(|&n| length(&mut hash, n));
            part(&mut hash, &tensor.data);
        }
        hash.finalize().iter().fold(String::new(), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

/// The header's length, from the first bytes of a file; refuses what cannot be a safetensors file.
pub(super) fn header_length(bytes: &[u8]) -> Result<usize, Fault> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else {
        let n = bytes.len();
        return Err(Fault::foreign(if n == 0 {
            "it is empty".into()
        } else {
            format!("it is no model file: {n} bytes are too few")
        }));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER || rest.first().is_some_and(|&byte| byte != b'{') {
        return Err(Fault::foreign("it is no model file: it does not begin like a safetensors file"));
    }
    Ok(length as usize)
}

pub(super) fn to_json(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

/// The header as it stands in the file. The crate's own reader would keep every number of a hostile header as a tree
/// of values, many times the file's size, and take the last of two tensors with one name.
struct Header {
    texts: BTreeMap<String, String>,
    tensors: Vec<(String, TensorInfo)>,
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut texts = None;
                let mut tensors = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    let is_new = if name == TEXTS {
                        texts.replace(map.next_value()?).is_none()
                    } else {
                        tensors.insert(name.clone(), map.next_value()?).is_none()
                    };
                    if !is_new {
                        return Err(A::Error::custom(format!("{name:?} appears twice")));
                    }
                }
                Ok(Header { texts: texts.unwrap_or_default(), tensors: tensors.into_iter().collect() })
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
