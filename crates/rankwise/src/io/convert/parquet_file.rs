//! Items as a Parquet file: a column for each thing that is known of them, then one per feature; compressed with snappy.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::Shape;
use super::input::ItemRow;

/// Bytes of the rows that are written together.
const GROUP_BYTES: usize = 32 << 20;

/// A file that is being written.
pub(super) struct ParquetFile<'a> {
    out: &'a mut dyn Write,
    file: SerializedFileWriter<Vec<u8>>,
    shape: Shape,
    n_items: usize,
    rows_of_group: usize,
    ids: Vec<ByteArray>,
    groups: Vec<ByteArray>,
    labels: Vec<f64>,
    weights: Vec<f64>,
    group_weights: Vec<f64>,
    /// One for each feature, in one of the two.
    singles: Vec<Vec<f32>>,
    doubles: Vec<Vec<f64>>,
    n_waiting: usize,
}

impl<'a> ParquetFile<'a> {
    pub(super) fn new(out: &'a mut dyn Write, shape: Shape, names: Option<&[String]>) -> io::Result<Self> {
        let number = if shape.is_f32 { Physical::FLOAT } else { Physical::DOUBLE };
        let mut fields = Vec::new();
        let mut add = |name: &str, physical: Physical| -> Result<(), ParquetError> {
            let is_text = physical == Physical::BYTE_ARRAY;
            let converted = if is_text { ConvertedType::UTF8 } else { ConvertedType::NONE };
            let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
            fields.push(Arc::new(field.with_converted_type(converted).build()?));
            Ok(())
        };
        let heads = [
            (shape.has_ids, "id", Physical::BYTE_ARRAY),
            (shape.has_groups, "qid", Physical::BYTE_ARRAY),
            (shape.has_labels, "label", Physical::DOUBLE),
            (shape.has_weights, "weight", Physical::DOUBLE),
            (shape.has_group_weights, "group_weight", Physical::DOUBLE),
        ];
        for (_, name, physical) in heads.into_iter().filter(|(has, ..)| *has) {
            add(name, physical).map_err(io::Error::other)?;
        }
        for feature in 0..shape.n_features {
            match names.and_then(|names| names.get(feature)) {
                Some(name) => add(name, number),
                None => add(&format!("x{}", feature + 1), number),
            }
            .map_err(io::Error::other)?;
        }
        let schema = Type::group_type_builder("items").with_fields(fields).build().map_err(io::Error::other)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties));
        let bytes_of_row = shape.n_features * shape.bytes_of_number() as usize + 64;
        let (n_singles, n_doubles) = if shape.is_f32 { (shape.n_features, 0) } else { (0, shape.n_features) };
        Ok(ParquetFile {
            out,
            file: file.map_err(io::Error::other)?,
            shape,
            n_items: 0,
            rows_of_group: (GROUP_BYTES / bytes_of_row).max(1),
            ids: Vec::new(),
            groups: Vec::new(),
            labels: Vec::new(),
            weights: Vec::new(),
            group_weights: Vec::new(),
            singles: vec![Vec::new(); n_singles],
            doubles: vec![Vec::new(); n_doubles],
            n_waiting: 0,
        })
    }

    pub(super) fn push(&mut self, row: &ItemRow<'_>, id: &str) -> io::Result<()> {
        if self.shape.has_ids {
            self.ids.push(id.into());
        }
        if self.shape.has_groups {
            self.groups.push(row.group.unwrap_or_default().into());
        }
        self.labels.push(row.label.unwrap_or(0.0));
        self.weights.push(row.weight.unwrap_or(1.0));
        self.group_weights.push(row.group_weight.unwrap_or(1.0));
        self.n_waiting += 1;
        self.n_items += 1;
        self.singles.iter_mut().for_each(|column| column.push(0.0));
        self.doubles.iter_mut().for_each(|column| column.push(0.0));
        for (at, &value) in row.values.iter().enumerate() {
            let column = row.columns.map_or(at, |columns| columns[at] as usize);
            if self.shape.is_f32 {
                self.singles[column][self.n_waiting - 1] = value as f32;
            } else {
                self.doubles[column][self.n_waiting - 1] = value;
            }
        }
        if self.n_waiting == self.rows_of_group { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_group().map_err(io::Error::other)?;
        for column in [&mut self.labels, &mut self.weights, &mut self.group_weights] {
            column.clear();
        }
        self.ids.clear();
        self.groups.clear();
        self.singles.iter_mut().for_each(Vec::clear);
        self.doubles.iter_mut().for_each(Vec::clear);
        self.n_waiting = 0;
        self.file.flush()?;
        let bytes = std::mem::take(self.file.inner_mut());
        self.out.write_all(&bytes)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for (has, words) in [(self.shape.has_ids, &self.ids), (self.shape.has_groups, &self.groups)] {
            if has {
                write_column::<ByteArrayType>(&mut group, words)?;
            }
        }
        for (has, numbers) in [
            (self.shape.has_labels, &self.labels),
            (self.shape.has_weights, &self.weights),
            (self.shape.has_group_weights, &self.group_weights),
        ] {
            if has {
                write_column::<DoubleType>(&mut group, numbers)?;
            }
        }
        self.singles.iter().try_for_each(|column| write_column::<FloatType>(&mut group, column))?;
        self.doubles.iter().try_for_each(|column| write_column::<DoubleType>(&mut group, column))?;
        group.close()?;
        Ok(())
    }

    /// Ends the file; false if it is not what was announced.
    pub(super) fn finish(mut self) -> io::Result<bool> {
        if self.n_waiting > 0 {
            self.flush()?;
        }
        self.file.finish().map_err(io::Error::other)?;
        self.file.flush()?;
        let bytes = std::mem::take(self.file.inner_mut());
        self.out.write_all(&bytes)?;
        Ok(self.n_items == self.shape.n_items)
    }
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("a column that was not announced".into());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}
