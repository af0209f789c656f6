//! A second, independent reader and writer of the container, with which tests change a model file and seal it again.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) dtype: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) data: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parts {
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) tensors: BTreeMap<String, Part>,
}

impl Parts {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        assert_eq!(length % 8, 0, "the numbers are aligned");
        let header: BTreeMap<String, Value> = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let data = &bytes[8 + length..];
        let mut parts = Parts { texts: BTreeMap::new(), tensors: BTreeMap::new() };
        for (name, entry) in header {
            if name == "__metadata__" {
                parts.texts = serde_json::from_value(entry).unwrap();
                continue;
            }
            let (start, end): (usize, usize) = serde_json::from_value(entry["data_offsets"].clone()).unwrap();
            let part = Part {
                dtype: entry["dtype"].as_str().unwrap().into(),
                shape: serde_json::from_value(entry["shape"].clone()).unwrap(),
                data: data[start..end].to_vec(),
            };
            parts.tensors.insert(name, part);
        }
        parts
    }

    pub(crate) fn text(mut self, name: &str, text: &str) -> Self {
        self.texts.insert(name.into(), text.into());
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        assert!(self.texts.remove(name).is_some() || self.tensors.remove(name).is_some(), "there is no {name}");
        self
    }

    pub(crate) fn tensor(mut self, name: &str, dtype: &str, shape: &[u64], data: Vec<u8>) -> Self {
        self.tensors.insert(name.into(), Part { dtype: dtype.into(), shape: shape.to_vec(), data });
        self
    }

    pub(crate) fn f64s(self, name: &str, values: &[f64]) -> Self {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.tensor(name, "F64", &[values.len() as u64], data)
    }

    pub(crate) fn checksum(&self) -> String {
        let mut hashed = Vec::new();
        let length = |hashed: &mut Vec<u8>, n: usize| hashed.extend((n as u64).to_le_bytes());
        let texts: Vec<_> = self.texts.iter().filter(|(name, _)| *name != "sha256").collect();
        length(&mut hashed, texts.len());
        for text in texts.iter().flat_map(|(name, text)| [name, text]) {
            length(&mut hashed, text.len());
            hashed.extend(text.as_bytes());
        }
        length(&mut hashed, self.tensors.len());
        for (name, part) in &self.tensors {
            for text in [name, &part.dtype] {
                length(&mut hashed, text.len());
                hashed.extend(text.as_bytes());
            }
            length(&mut hashed, part.shape.len());
            part.shape.iter().for_each(|&n| length(&mut hashed, n as usize));
            length(&mut hashed, part.data.len());
            hashed.extend(&part.data);
        }
        Sha256::digest(&hashed).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The bytes with the checksum as it stands.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut header = json!({ "__metadata__": self.texts });
        let mut data = Vec::new();
        for (name, part) in &self.tensors {
            let end = data.len() + part.data.len();
            header[name] = json!({ "dtype": part.dtype, "shape": part.shape, "data_offsets": [data.len(), end] });
            data.extend(&part.data);
        }
        with_header(&header.to_string(), &data)
    }

    /// The bytes with a right checksum.
    pub(crate) fn sealed(mut self) -> Vec<u8> {
        self.texts.insert("sha256".into(), self.checksum());
        self.bytes()
    }
}

pub(crate) fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}
