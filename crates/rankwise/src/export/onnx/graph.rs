//! A graph of ONNX that is written node by node. A tensor is known by its name.

use super::proto::{
    AttributeProto, Dimension, Element, GraphProto, NodeProto, Shape, TensorProto, TensorType, TypeProto, ValueInfo,
    attribute_kind,
};

/// The name of a tensor.
pub(super) type Tensor = String;

/// How long an axis is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Axis {
    /// So long.
    Of(usize),
    /// As long as the data are.
    Rows,
}

/// Nodes so far.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<NodeProto>,
    constants: Vec<TensorProto>,
    inputs: Vec<ValueInfo>,
    outputs: Vec<ValueInfo>,
    /// Before every name, so that those of a graph within another differ.
    prefix: String,
    /// Whether an operator of `ai.onnx.ml` is among them.
    pub(super) has_ml: bool,
}

impl Graph {
    /// A graph within another one, whose tensors it may name.
    pub(super) fn inner(prefix: &str) -> Self {
        Graph { prefix: prefix.into(), ..Graph::default() }
    }

    /// What the graph is given.
    pub(super) fn input(&mut self, name: &str, element: Element, shape: &[Axis], doc: &str) -> Tensor {
        self.inputs.push(value_info(name, element, shape, doc));
        name.into()
    }

    /// What the graph gives, under a name of its own.
    pub(super) fn output(&mut self, name: &str, value: &str, element: Element, shape: &[Axis], doc: &str) {
        self.push("Identity", "", &[value], name.into(), Vec::new());
        self.outputs.push(value_info(name, element, shape, doc));
    }

    /// Numbers in f64.
    pub(super) fn reals(&mut self, dims: &[usize], values: &[f64]) -> Tensor {
        self.constant(Element::Double, dims, values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    /// One number that goes with tensors of any shape.
    pub(super) fn real(&mut self, value: f64) -> Tensor {
        self.reals(&[], &[value])
    }

    /// Whole numbers.
    pub(super) fn ints(&mut self, values: &[i64]) -> Tensor {
        self.constant(Element::Int64, &[values.len()], values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    /// One whole number.
    pub(super) fn count(&mut self, value: i64) -> Tensor {
        self.constant(Element::Int64, &[], value.to_le_bytes().to_vec())
    }

    /// Words.
    pub(super) fn words(&mut self, values: &[String]) -> Tensor {
        let tensor = self.constant(Element::String, &[values.len()], Vec::new());
        if let Some(constant) = self.constants.last_mut() {
            constant.raw_data = None;
            constant.string_data = values.iter().map(|word| word.clone().into_bytes()).collect();
        }
        tensor
    }

    fn constant(&mut self, element: Element, dims: &[usize], bytes: Vec<u8>) -> Tensor {
        let name = format!("{}constant_{}", self.prefix, self.constants.len() + 1);
        self.constants.push(TensorProto {
            dims: dims.iter().map(|&n| n as i64).collect(),
            data_type: element as i32,
            name: name.clone(),
            raw_data: Some(bytes),
            ..TensorProto::default()
        });
        name
    }

    /// What a core operator makes of tensors.
    pub(super) fn op(&mut self, kind: &str, inputs: &[&str]) -> Tensor {
        self.op_with(kind, inputs, Vec::new())
    }

    /// The same, with attributes.
    pub(super) fn op_with(&mut self, kind: &str, inputs: &[&str], attributes: Vec<AttributeProto>) -> Tensor {
        let output = self.next_name(kind);
        self.push(kind, "", inputs, output.clone(), attributes);
        output
    }

    /// What an operator of `ai.onnx.ml` makes of tensors.
    pub(super) fn ml_op(&mut self, kind: &str, input: &str, attributes: Vec<AttributeProto>) -> Tensor {
        self.has_ml = true;
        let output = self.next_name(kind);
        self.push(kind, "ai.onnx.ml", &[input], output.clone(), attributes);
        output
    }

    fn next_name(&self, kind: &str) -> Tensor {
        format!("{}{}_{}", self.prefix, kind.to_lowercase(), self.nodes.len() + 1)
    }

    fn push(&mut self, kind: &str, domain: &str, inputs: &[&str], output: Tensor, attribute: Vec<AttributeProto>) {
        self.nodes.push(NodeProto {
            input: inputs.iter().map(ToString::to_string).collect(),
            name: format!("node_{output}"),
            output: vec![output],
            op_type: kind.into(),
            attribute,
            domain: domain.into(),
        });
    }

    /// The numbers as another kind.
    pub(super) fn cast(&mut self, value: &str, to: Element) -> Tensor {
        self.op_with("Cast", &[value], vec![int("to", to as i64)])
    }

    /// The sum over an axis, which stays with length 1.
    pub(super) fn sum(&mut self, value: &str, axis: i64) -> Tensor {
        let axes = self.ints(&[axis]);
        self.op_with("ReduceSum", &[value, &axes], vec![int("keepdims", 1)])
    }

    /// Columns beside each other.
    pub(super) fn beside(&mut self, columns: &[&str]) -> Tensor {
        self.op_with("Concat", columns, vec![int("axis", 1)])
    }

    /// Entries of an axis by number.
    pub(super) fn gather(&mut self, value: &str, numbers: &str, axis: i64) -> Tensor {
        self.op_with("Gather", &[value, numbers], vec![int("axis", axis)])
    }

    /// One entry of an axis, which stays with length 1.
    pub(super) fn entry(&mut self, value: &str, number: usize, axis: i64) -> Tensor {
        let numbers = self.ints(&[number as i64]);
        self.gather(value, &numbers, axis)
    }

    /// A column as a list.
    pub(super) fn list(&mut self, column: &str) -> Tensor {
        let all = self.ints(&[-1]);
        self.op("Reshape", &[column, &all])
    }

    /// Rows of `n` numbers, whatever the shape was.
    pub(super) fn list_rows(&mut self, value: &str, n: usize) -> Tensor {
        let shape = self.ints(&[-1, n as i64]);
        self.op("Reshape", &[value, &shape])
    }

    /// e^x, the same for equal numbers wherever they stand: the operator Exp computes the last numbers of an array in another
    /// way than the others in some runtimes, so that copies of an item would not tie.
    pub(super) fn exp(&mut self, value: &str) -> Tensor {
        let e = self.real(std::f64::consts::E);
        self.op("Pow", &[&e, value])
    }

    /// e^x/(1 + e^x), without overflow: e^min(x, 0)/(1 + e^−|x|).
    pub(super) fn sigmoid(&mut self, value: &str) -> Tensor {
        let (zero, one) = (self.real(0.0), self.real(1.0));
        let size = self.op("Abs", &[value]);
        let negative = self.op("Neg", &[&size]);
        let small = self.exp(&negative);
        let below = self.op("Min", &[value, &zero]);
        let above = self.exp(&below);
        let total = self.op("Add", &[&one, &small]);
        self.op("Div", &[&above, &total])
    }

    /// The whole graph.
    pub(super) fn finish(self, name: &str) -> GraphProto {
        GraphProto {
            node: self.nodes,
            name: name.into(),
            initializer: self.constants,
            input: self.inputs,
            output: self.outputs,
        }
    }
}

fn value_info(name: &str, element: Element, shape: &[Axis], doc: &str) -> ValueInfo {
    let dim = shape.iter().map(|axis| match axis {
        Axis::Of(n) => Dimension { dim_value: Some(*n as i64), dim_param: None },
        Axis::Rows => Dimension { dim_value: None, dim_param: Some("n".into()) },
    });
    let shape = Some(Shape { dim: dim.collect() });
    let tensor_type = Some(TensorType { elem_type: element as i32, shape });
    ValueInfo { name: name.into(), r#type: Some(TypeProto { tensor_type }), doc_string: doc.into() }
}

/// An attribute that is a whole number.
pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { name: name.into(), i: value, r#type: attribute_kind::INT, ..AttributeProto::default() }
}

/// An attribute that is a list of whole numbers.
pub(super) fn ints(name: &str, values: &[i64]) -> AttributeProto {
    let ints = values.to_vec();
    AttributeProto { name: name.into(), ints, r#type: attribute_kind::INTS, ..AttributeProto::default() }
}

/// An attribute that is a word.
pub(super) fn word(name: &str, value: &str) -> AttributeProto {
    let s = value.as_bytes().to_vec();
    AttributeProto { name: name.into(), s, r#type: attribute_kind::STRING, ..AttributeProto::default() }
}

/// An attribute that is a list of numbers.
pub(super) fn floats(name: &str, values: impl IntoIterator<Item = f64>) -> AttributeProto {
    let floats = values.into_iter().map(|value| value as f32).collect();
    AttributeProto { name: name.into(), floats, r#type: attribute_kind::FLOATS, ..AttributeProto::default() }
}

/// An attribute that is a graph.
pub(super) fn graph(name: &str, value: GraphProto) -> AttributeProto {
    AttributeProto { name: name.into(), g: Some(value), r#type: attribute_kind::GRAPH, ..AttributeProto::default() }
}
