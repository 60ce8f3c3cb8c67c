//! What the source of the OpenAPI document leaves out of its schemas.

use serde_yaml_ng::{Mapping, Value as Yaml};

use cloud::LocalError;

/// Replaces `required: all` of each schema in `part` by the names of its own properties.
pub(crate) fn name_required(part: &mut Yaml) {
    match part {
        Yaml::Mapping(fields) => {
            fields.values_mut().for_each(name_required);
            if fields.get("required").and_then(Yaml::as_str) == Some("all")
                && let Some(Yaml::Mapping(properties)) = fields.get("properties")
            {
                let names: Vec<Yaml> = properties.keys().cloned().collect();
                fields.insert("required".into(), names.into());
            }
        }
        Yaml::Sequence(elements) => elements.iter_mut().for_each(name_required),
        _ => {}
    }
}

/// Adds to each of `schemas` the properties of the one that its `x-extends` names, and what that requires. One with
/// `x-abstract` is there to be extended alone, and removed.
///
/// # Errors
/// When there is no such schema.
pub(crate) fn extend_all(schemas: &mut Mapping) -> Result<(), LocalError> {
    let names: Vec<Yaml> = schemas.keys().cloned().collect();
    names.iter().try_for_each(|name| extend(schemas, name))?;
    schemas.retain(|_, schema| schema.get("x-abstract").is_none());
    Ok(())
}

fn extend(schemas: &mut Mapping, name: &Yaml) -> Result<(), LocalError> {
    let Some(Yaml::Mapping(schema)) = schemas.get_mut(name) else {
        return Err(LocalError::new(format!("x-extends: there is no schema {name:?}.")));
    };
    let Some(base) = schema.shift_remove("x-extends") else {
        return Ok(());
    };
    extend(schemas, &base)?;
    let base = schemas.get(&base).cloned().unwrap_or_default();
    let Some(Yaml::Mapping(schema)) = schemas.get_mut(name) else { return Ok(()) };
    let of_both = |field: &str| [base.get(field), schema.get(field)].into_iter().flatten();
    let properties = of_both("properties").filter_map(Yaml::as_mapping).flatten();
    let properties: Mapping =
        properties.map(|(name, property)| (name.clone(), property.clone())).collect();
    let required: Vec<Yaml> =
        of_both("required").filter_map(Yaml::as_sequence).flatten().cloned().collect();
    schema.insert("properties".into(), properties.into());
    schema.insert("required".into(), required.into());
    Ok(())
}
