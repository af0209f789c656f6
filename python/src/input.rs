//! Data of Python as the library sees them: arrays are borrowed, not copied.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rankwise::data::{self, Context, Features, Numbers, Outcome, Pair, PairSet, Shared};
use rankwise::{Error, Result};

use crate::errors::{exception, raise};
use crate::run::run;
use crate::table;

/// Memory of an array of `E`, kept alive with it and seen as numbers of type `T`, which are as large.
struct Borrowed<E, T> {
    start: *const E,
    len: usize,
    seen_as: PhantomData<T>,
    _owner: Py<PyAny>,
}

// SAFETY: nobody writes through `start`, and the array that owns the memory lives as long as this; its reference count is only
// touched with the interpreter's consent. That Python code of another thread changes numbers meanwhile is the caller's business,
// as with every function of numpy that releases the GIL.
unsafe impl<E, T> Send for Borrowed<E, T> {}
// SAFETY: see above.
unsafe impl<E, T> Sync for Borrowed<E, T> {}

impl<E: Pod, T: Pod> AsRef<[T]> for Borrowed<E, T> {
    fn as_ref(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `borrow` saw an aligned array without gaps, of so many elements of this type; it is kept alive.
        let elements = unsafe { std::slice::from_raw_parts(self.start, self.len) };
        bytemuck::try_cast_slice(elements).unwrap_or_default()
    }
}

/// The memory of an array of `E` without gaps; `None` if its elements are of another type.
fn borrow<E: Element + Pod, T: Pod + Send + Sync>(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<Shared<T>>> {
    let py = array.py();
    let Ok(typed) = array.cast::<numpy::PyArrayDyn<E>>() else { return Ok(None) };
    if size_of::<E>() != size_of::<T>() {
        return Ok(None);
    }
    if !typed.is_c_contiguous() || !typed.data().is_aligned() {
        return Err(PyTypeError::new_err("an aligned array in C order is needed"));
    }
    let owner = Borrowed::<E, T> {
        start: typed.data().cast_const(),
        len: typed.len(),
        seen_as: PhantomData,
        _owner: typed.clone().into_any().unbind(),
    };
    Shared::from_owner(owner).map(Some).map_err(raise(py))
}

/// The numbers of an array of floats, in the precision they have.
fn numbers(array: &Bound<'_, PyUntypedArray>) -> PyResult<Numbers> {
    if let Some(values) = borrow::<f32, f32>(array)? {
        return Ok(Numbers::F32(values));
    }
    match borrow::<f64, f64>(array)? {
        Some(values) => Ok(Numbers::F64(values)),
        None => Err(PyTypeError::new_err(format!("float32 or float64 are needed, not {}", array.dtype()))),
    }
}

/// Items with features.
#[pyclass(frozen, module = "rankwise._core")]
pub(crate) struct Items {
    pub(crate) items: Arc<data::Items>,
}

impl Items {
    pub(crate) fn of(py: Python<'_>, features: Features, names: Option<Vec<String>>) -> PyResult<Self> {
        let items = data::Items::new(features, names, None).map_err(raise(py))?;
        Ok(Items { items: Arc::new(items) })
    }
}

#[pymethods]
impl Items {
    /// Rows of an array in C order, float32 or float64, which is not copied.
    #[staticmethod]
    #[pyo3(signature = (array, names=None))]
    fn dense(py: Python<'_>, array: &Bound<'_, PyUntypedArray>, names: Option<Vec<String>>) -> PyResult<Self> {
        let &[_, n_cols] = array.shape() else {
            return Err(PyTypeError::new_err("an array of two dimensions is needed"));
        };
        let values = numbers(array)?;
        let features = run(py, 0, None, move |_| Features::dense_shared(n_cols, values))?;
        Items::of(py, features, names)
    }

    /// Compressed sparse rows. Arrays of the library's types are not copied: values in float32 or float64, columns in int32, row
    /// starts in int64; other index types are converted.
    #[staticmethod]
    #[pyo3(signature = (n_cols, starts, columns, values, names=None))]
    fn sparse(
        py: Python<'_>,
        n_cols: usize,
        starts: &Bound<'_, PyUntypedArray>,
        columns: &Bound<'_, PyUntypedArray>,
        values: &Bound<'_, PyUntypedArray>,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        // Numbers below 0 become huge ones, which the checks of the features refuse.
        let starts: Shared<usize> = match borrow::<i64, usize>(starts)? {
            Some(starts) => starts,
            None => converted::<i32, usize>(starts, |start| start as usize)?,
        };
        let columns: Shared<u32> = match borrow::<i32, u32>(columns)? {
            Some(columns) => columns,
            None => converted::<i64, u32>(columns, |column| u32::try_from(column).unwrap_or(u32::MAX))?,
        };
        let values = numbers(values)?;
        let features = run(py, 0, None, move |_| Features::sparse_shared(n_cols, starts, columns, values))?;
        Items::of(py, features, names)
    }

    /// The columns of a table, by Arrow's stream interface: gathered into rows, float32 if all columns are, else float64.
    #[staticmethod]
    fn table(py: Python<'_>, stream: &Bound<'_, PyAny>) -> PyResult<Self> {
        let batches = table::batches(stream)?;
        let (features, names) = run(py, 0, None, move |_| table::rows(&batches))?;
        Items::of(py, features, Some(names))
    }

    /// Items that are known by their names alone, each of them once; after them, if wanted, the average of them all.
    #[staticmethod]
    #[pyo3(signature = (names, average=false))]
    fn named(py: Python<'_>, names: Vec<String>, average: bool) -> PyResult<Self> {
        let mut distinct: Vec<&String> = names.iter().collect();
        distinct.sort_unstable();
        if let Some(twice) = distinct.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(exception(py, &Error::parameter("items", format!("{:?} twice", twice[0]), "every name once")));
        }
        let items = if average { with_average(names).map_err(raise(py))? } else { data::Items::indicators(names) };
        Ok(Items { items: Arc::new(items) })
    }

    /// How many items there are.
    #[getter]
    fn n_items(&self) -> usize {
        self.items.n_items()
    }

    /// How many features an item has.
    #[getter]
    fn n_features(&self) -> usize {
        self.items.features.n_cols()
    }

    /// What the features are called.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.items.feature_names.clone()
    }

    /// Whether features are stored in float32.
    #[getter]
    fn is_f32(&self) -> bool {
        self.items.features.is_f32()
    }

    /// The rows as an array of float64, zeros included.
    fn to_dense<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, numpy::PyArray2<f64>>> {
        let (n_rows, n_cols) = (self.items.n_items(), self.items.features.n_cols());
        let flat = PyArray1::from_vec(py, self.items.features.to_dense());
        flat.reshape([n_rows, n_cols])
    }
}

/// Items that are known by their names alone, and one that is as much of each of them as of any other.
fn with_average(names: Vec<String>) -> Result<data::Items> {
    let n = names.len();
    let mut starts: Vec<usize> = (0..=n).collect();
    starts.push(2 * n);
    let columns: Vec<u32> = (0..n as u32).chain(0..n as u32).collect();
    let mut values = vec![1.0; n];
    values.resize(2 * n, 1.0 / n as f64);
    let features = Features::sparse_shared(n, starts.into(), columns.into(), Numbers::F64(values.into()))?;
    let mut items = data::Items::new(features, Some(names), None)?;
    items.are_indicators = true;
    Ok(items)
}

/// Numbers of another type, one by one.
fn converted<E: Element + Pod, T: Pod + Send + Sync>(
    array: &Bound<'_, PyUntypedArray>,
    number: impl Fn(E) -> T,
) -> PyResult<Shared<T>> {
    match borrow::<E, E>(array)? {
        Some(found) => Ok(found.iter().map(|&value| number(value)).collect::<Vec<T>>().into()),
        None => Err(PyTypeError::new_err(format!("int32 or int64 are needed, not {}", array.dtype()))),
    }
}

/// Which items belong together.
#[pyclass(frozen, module = "rankwise._core")]
pub(crate) struct Groups {
    pub(crate) groups: data::Groups,
}

#[pymethods]
impl Groups {
    /// One whole number per item, in any order.
    #[staticmethod]
    fn of_integers(py: Python<'_>, ids: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let mut known: HashMap<i64, u32> = HashMap::new();
        let (mut numbers, mut names) = (Vec::with_capacity(ids.len()), Vec::new());
        let mut last: Option<(i64, u32)> = None;
        for &id in ids.as_slice()? {
            let number = match last {
                Some((same, number)) if same == id => number,
                _ => *known.entry(id).or_insert_with(|| {
                    names.push(id.to_string());
                    names.len() as u32 - 1
                }),
            };
            last = Some((id, number));
            numbers.push(number);
        }
        let groups = data::Groups::from_numbers(numbers, names).map_err(raise(py))?;
        Ok(Groups { groups })
    }

    /// A number per item, and what the groups of these numbers are called.
    #[staticmethod]
    fn of_numbers(py: Python<'_>, numbers: PyReadonlyArray1<'_, u32>, names: Vec<String>) -> PyResult<Self> {
        let groups = data::Groups::from_numbers(numbers.as_slice()?.to_vec(), names).map_err(raise(py))?;
        Ok(Groups { groups })
    }

    /// The number of each item's group.
    #[getter]
    fn numbers<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.groups.numbers())
    }

    fn __len__(&self) -> usize {
        self.groups.len()
    }
}

/// Pairs of items.
#[pyclass(frozen, module = "rankwise._core")]
pub(crate) struct Pairs {
    pub(crate) set: Arc<PairSet>,
}

#[pymethods]
impl Pairs {
    /// Two item numbers per pair.
    #[staticmethod]
    fn of_numbers(
        py: Python<'_>,
        items: &Items,
        left: PyReadonlyArray1<'_, i64>,
        right: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let (left, right) = (left.as_slice()?, right.as_slice()?);
        let n_items = items.items.n_items();
        let number = |item: i64| usize::try_from(item).ok().filter(|&item| item < n_items).map(|item| item as u32);
        let mut pairs = Vec::with_capacity(left.len());
        for (k, (&left, &right)) in left.iter().zip(right).enumerate() {
            match (number(left), number(right)) {
                (Some(left), Some(right)) => pairs.push(Pair { left, right }),
                _ => {
                    let found = format!("({left}, {right}) in row {k}");
                    let expected = format!("item numbers from 0 to {}", n_items.saturating_sub(1));
                    return Err(exception(py, &Error::parameter("pairs", found, expected)));
                }
            }
        }
        let set = PairSet::new((*items.items).clone(), pairs).map_err(raise(py))?;
        Ok(Pairs { set: Arc::new(set) })
    }

    /// Rows 2k and 2k + 1 are the sides of pair k; equal rows are one item.
    #[staticmethod]
    fn of_sides(py: Python<'_>, rows: &Items) -> PyResult<Self> {
        let rows = Arc::clone(&rows.items);
        let set =
            run(py, 0, None, move |_| PairSet::from_alternating(rows.features.clone(), rows.feature_names.clone()))?;
        Ok(Pairs { set: Arc::new(set) })
    }

    /// The same pairs with what is known of each comparison itself, a row per pair.
    fn with_context(&self, py: Python<'_>, context: &Items, names: Vec<String>) -> PyResult<Self> {
        let context = Context { features: context.items.features.clone(), names };
        let set = (*self.set).clone().with_context(context).map_err(raise(py))?;
        Ok(Pairs { set: Arc::new(set) })
    }

    /// How many pairs there are.
    #[getter]
    fn n_pairs(&self) -> usize {
        self.set.n_pairs()
    }

    /// How many items they touch, equal ones being one.
    #[getter]
    fn n_items(&self) -> usize {
        self.set.items.n_items()
    }

    /// The items of the pairs.
    #[getter]
    fn items(&self) -> Items {
        Items { items: Arc::new(self.set.items.clone()) }
    }
}

/// −1, 0 and 1 as outcomes.
pub(crate) fn outcomes(signs: &[i8]) -> Result<Vec<Outcome>> {
    let outcome = |&sign: &i8| Outcome::ALL.into_iter().find(|outcome| outcome.sign() == sign);
    signs
        .iter()
        .map(|sign| outcome(sign).ok_or_else(|| Error::parameter("outcomes", sign, "-1 (left), 0 (tie) or 1 (right)")))
        .collect()
}
