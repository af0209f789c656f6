//! Tables of any library that speaks Arrow: columns gathered into rows.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rankwise::data::{Features, Numbers, Shared};
use rankwise::{Error, Result};
use rayon::prelude::*;

/// Rows that are filled column by column at a time: they stay in the cache meanwhile.
const ROWS_AT_A_TIME: usize = 256;

/// The pieces of a table.
pub(crate) struct Batches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// What an object with `__arrow_c_stream__` has.
pub(crate) fn batches(object: &Bound<'_, PyAny>) -> PyResult<Batches> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule: &Bound<'_, PyCapsule> = capsule.cast()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a stream of Arrow's C interface; the reader takes it out and leaves an empty one.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    let unreadable = |e: arrow_schema::ArrowError| PyTypeError::new_err(e.to_string());
    let reader = RecordBatchStreamReader::try_new(stream).map_err(unreadable)?;
    let schema = reader.schema();
    let batches = reader.collect::<std::result::Result<Vec<_>, _>>().map_err(unreadable)?;
    Ok(Batches { schema, batches })
}

/// A number type of a table.
trait Cell: bytemuck::Pod + Send + Sync {
    fn of_f64(value: f64) -> Self;
    fn of_f32(value: f32) -> Self;
}

impl Cell for f32 {
    fn of_f64(value: f64) -> f32 {
        value as f32
    }
    fn of_f32(value: f32) -> f32 {
        value
    }
}

impl Cell for f64 {
    fn of_f64(value: f64) -> f64 {
        value
    }
    fn of_f32(value: f32) -> f64 {
        f64::from(value)
    }
}

/// The columns as rows of features, and their names.
pub(crate) fn rows(table: &Batches) -> Result<(Features, Vec<String>)> {
    let names: Vec<String> = table.schema.fields().iter().map(|field| field.name().clone()).collect();
    let is_f32 = table.schema.fields().iter().all(|field| matches!(field.data_type(), DataType::Float32));
    let n_rows: usize = table.batches.iter().map(RecordBatch::num_rows).sum();
    let values = if is_f32 && !names.is_empty() {
        Numbers::F32(gathered::<f32>(table, n_rows)?)
    } else {
        Numbers::F64(gathered::<f64>(table, n_rows)?)
    };
    Ok((Features::dense_shared(names.len(), values)?, names))
}

fn gathered<T: Cell>(table: &Batches, n_rows: usize) -> Result<Shared<T>> {
    let n_cols = table.schema.fields().len();
    let mut values = vec![T::of_f32(0.0); n_rows * n_cols];
    let mut rest = values.as_mut_slice();
    let mut first_row = 0;
    for batch in &table.batches {
        let (here, after) = rest.split_at_mut(batch.num_rows() * n_cols);
        rest = after;
        for (column, field) in batch.columns().iter().zip(table.schema.fields()) {
            check(column.as_ref(), field.name(), first_row)?;
        }
        here.par_chunks_mut(ROWS_AT_A_TIME * n_cols.max(1)).enumerate().try_for_each(|(block, out)| {
            let start = block * ROWS_AT_A_TIME;
            (0..n_cols).try_for_each(|at| {
                let column = batch.column(at);
                fill(column.as_ref(), start, out, at, n_cols)
                    .ok_or_else(|| not_numeric(table.schema.field(at).name(), column.data_type()))
            })
        })?;
        first_row += batch.num_rows();
    }
    Ok(values.into())
}

/// Refuses columns with missing values.
fn check(column: &dyn Array, name: &str, first_row: usize) -> Result<()> {
    let missing = (column.null_count() > 0).then(|| (0..column.len()).find(|&row| column.is_null(row))).flatten();
    match missing {
        Some(row) => Err(Error::parameter(
            "features",
            format!("missing in column {name:?}, row {}", first_row + row),
            "numbers without gaps: fill them in, or leave the rows out",
        )),
        None => Ok(()),
    }
}

fn not_numeric(name: &str, kind: &DataType) -> Error {
    let what = words(kind);
    let expected = match what.as_str() {
        "lists" => "a column for each number: numpy.stack(column) makes an array of such a column",
        _ => "numbers: encode the column as numbers, or leave it out",
    };
    Error::parameter("features", format!("column {name:?} of {what}"), expected)
}

/// What people call the cells of a column.
fn words(kind: &DataType) -> String {
    let word = match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => "bytes",
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => "dates",
        DataType::Time32(_) | DataType::Time64(_) => "times",
        DataType::Duration(_) | DataType::Interval(_) => "lengths of time",
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => "lists",
        DataType::ListView(_) | DataType::LargeListView(_) => "lists",
        DataType::Dictionary(..) => "categories",
        DataType::Null => "missing values",
        other => return format!("type {other}"),
    };
    word.to_string()
}

/// Digits with a decimal point before the last `scale` of them. A power of ten is exact up to 10^22, so that the quotient of digits
/// below 2^53 is the nearest number.
fn decimal(digits: i128, scale: i8) -> f64 {
    let power = 10f64.powi(i32::from(scale).abs());
    if scale < 0 { digits as f64 * power } else { digits as f64 / power }
}

/// Writes a column from `start` on into rows; `None` if it is no column of numbers.
fn fill<T: Cell>(column: &dyn Array, start: usize, out: &mut [T], at: usize, n_cols: usize) -> Option<()> {
    fn put<A: ArrowPrimitiveType, T: Cell>(
        column: &dyn Array,
        start: usize,
        out: &mut [T],
        at: usize,
        n_cols: usize,
        cell: impl Fn(A::Native) -> T,
    ) -> Option<()> {
        let values = column.as_primitive_opt::<A>()?.values();
        out[at..].iter_mut().step_by(n_cols).zip(&values[start..]).for_each(|(out, &value)| *out = cell(value));
        Some(())
    }
    match column.data_type() {
        DataType::Float64 => put::<Float64Type, T>(column, start, out, at, n_cols, T::of_f64),
        DataType::Float32 => put::<Float32Type, T>(column, start, out, at, n_cols, T::of_f32),
        DataType::Float16 => put::<Float16Type, T>(column, start, out, at, n_cols, |v| T::of_f32(v.to_f32())),
        DataType::Int64 => put::<Int64Type, T>(column, start, out, at, n_cols, |v| T::of_f64(v as f64)),
        DataType::Int32 => put::<Int32Type, T>(column, start, out, at, n_cols, |v| T::of_f64(f64::from(v))),
        DataType::Int16 => put::<Int16Type, T>(column, start, out, at, n_cols, |v| T::of_f64(f64::from(v))),
        DataType::Int8 => put::<Int8Type, T>(column, start, out, at, n_cols, |v| T::of_f64(f64::from(v))),
        DataType::UInt64 => put::<UInt64Type, T>(column, start, out, at, n_cols, |v| T::of_f64(v as f64)),
        DataType::UInt32 => put::<UInt32Type, T>(column, start, out, at, n_cols, |v| T::of_f64(f64::from(v))),
        DataType::UInt16 => put::<UInt16Type, T>(column, start, out, at, n_cols, |v| T::of_f64(f64::from(v))),
        DataType::UInt8 => put::<UInt8Type, T>(column, start, out, at, n_cols, |v| T::of_f64(f64::from(v))),
        DataType::Decimal32(_, scale) => {
            put::<Decimal32Type, T>(column, start, out, at, n_cols, |v| T::of_f64(decimal(v.into(), *scale)))
        }
        DataType::Decimal64(_, scale) => {
            put::<Decimal64Type, T>(column, start, out, at, n_cols, |v| T::of_f64(decimal(v.into(), *scale)))
        }
        DataType::Decimal128(_, scale) => {
            put::<Decimal128Type, T>(column, start, out, at, n_cols, |v| T::of_f64(decimal(v, *scale)))
        }
        DataType::Boolean => {
            let values = column.as_boolean_opt()?;
            let cells = out[at..].iter_mut().step_by(n_cols).enumerate();
            cells.for_each(|(row, out)| *out = T::of_f64(f64::from(u8::from(values.value(start + row)))));
            Some(())
        }
        _ => None,
    }
}
