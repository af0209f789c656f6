//! Linear models for search engines: Solr's `LinearModel`, `model/linear` of Elasticsearch and OpenSearch.
//!
//! Both compute Σ weight·feature over features by name, without a constant. Weights of 0 stay, so that the engine says when a
//! feature is missing.

use serde::{Serialize, Serializer};

use super::linear::Linear;
use super::{ExportOptions, Kind, Target, feature_names, json, method_of};
use crate::error::{Error, Result};
use crate::model::Model;

#[derive(Serialize)]
struct SolrModel<'a> {
    class: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<&'a str>,
    features: Vec<SolrFeature<'a>>,
    params: SolrParams<'a>,
}

#[derive(Serialize)]
struct SolrFeature<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct SolrParams<'a> {
    weights: &'a Weights,
}

/// What the plugins of Elasticsearch and OpenSearch create a model from.
#[derive(Serialize)]
struct PluginRequest<'a> {
    model: PluginModel<'a>,
}

#[derive(Serialize)]
struct PluginModel<'a> {
    name: &'a str,
    model: PluginDefinition<'a>,
}

#[derive(Serialize)]
struct PluginDefinition<'a> {
    r#type: &'static str,
    definition: &'a Weights,
}

/// A weight for each feature by name, in the order of the model.
struct Weights(Vec<(String, f64)>);

impl Serialize for Weights {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, weight)| (name, weight)))
    }
}

impl Weights {
    fn of(model: &Model, to: Target) -> Result<Self> {
        if Kind::of(model) == Kind::Class {
            return Err(Error::Unsupported {
                problem: format!(
                    "{} orders items by a score, and a model of {} tells classes",
                    to.name(),
                    method_of(model)
                ),
                remedy: "train a ranker (--method rank), or export to onnx".into(),
            });
        }
        if model.scorer.are_indicators {
            return Err(Error::Unsupported {
                problem: format!("{} scores features, and this model knows items by their names alone", to.name()),
                remedy: "train with features of items (--items)".into(),
            });
        }
        let (weights, _) = Linear::single(model, to)?;
        Ok(Weights(feature_names(model)?.into_iter().zip(weights).collect()))
    }
}

/// The JSON that Solr's model store takes.
pub(super) fn solr(model: &Model, options: &ExportOptions) -> Result<String> {
    let weights = Weights::of(model, Target::Solr)?;
    json::text(&SolrModel {
        class: "org.apache.solr.ltr.model.LinearModel",
        name: options.name_or_default(),
        store: options.store.as_deref(),
        features: weights.0.iter().map(|(name, _)| SolrFeature { name }).collect(),
        params: SolrParams { weights: &weights },
    })
}

/// The JSON that the learning-to-rank plugins of Elasticsearch and OpenSearch take.
pub(super) fn plugin(model: &Model, to: Target, options: &ExportOptions) -> Result<String> {
    let definition = &Weights::of(model, to)?;
    let model = PluginDefinition { r#type: "model/linear", definition };
    json::text(&PluginRequest { model: PluginModel { name: options.name_or_default(), model } })
}
