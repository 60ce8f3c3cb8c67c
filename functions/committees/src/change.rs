//! `PUT /committees/{committeeId}`: a super admin changes a committee, field by field.

use axum::extract::State;
use common::{
    Fields, FromFields, Input, Message, Path, Refusal, Reply, SuperAdmin, flag, integer, text,
    text_or_empty, told,
};
use domain::{CommitteeId, E164, Line, committee::CommitteeChange};

use crate::{Committees, Shown, View, create::MAX_POSTAL_CODE};

pub(crate) struct Change(CommitteeChange);

impl<S> FromFields<S> for Change {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let name_arabe = fields.optional("nameArabe", text);
        let name_latin = fields.optional("nameLatin", text);
        let kind = fields.optional("type", text);
        let date_of_est = fields.optional("dateOfEst", text);
        let vat = fields.optional("VAT", text_or_empty::<Line<30>>);
        let address = fields.optional("address", text_or_empty::<Line<300>>);
        let region = fields.optional("region", text);
        let city = fields.optional("city", text);
        let postal_code = fields.optional("postalCode", integer(0..=MAX_POSTAL_CODE));
        let is_active = fields.optional("isActive", flag);
        let primary_email = fields.optional("primaryEmail", text);
        let secondary_email = fields.nullable("secondaryEmail", text);
        let primary_phone = fields.optional("primaryPhone", text);
        let secondary_phone = fields.optional("secondaryPhone", text_or_empty::<E164>);
        Some(Self(CommitteeChange {
            name_arabe: name_arabe?,
            name_latin: name_latin?,
            r#type: kind?,
            date_of_est: date_of_est?,
            vat: vat?,
            address: address?,
            region: region?,
            city: city?,
            postal_code: postal_code?,
            is_active: is_active?,
            primary_email: primary_email?,
            secondary_email: secondary_email?,
            primary_phone: primary_phone?,
            secondary_phone: secondary_phone?,
        }))
    }
}

/// Only the given fields are written, so two who change different ones both keep their change.
pub(crate) async fn change(
    State(state): State<Committees>,
    _: SuperAdmin,
    Path(id): Path<CommitteeId>,
    Input(change): Input<Change>,
) -> Reply<Shown> {
    let committee = state
        .store
        .change_committee(id, &change.0)
        .await?
        .ok_or(Refusal::CommitteeNotFound)?;
    told(
        Message::CommitteeUpdated,
        Shown {
            committee: View::Whole(Box::new(committee)),
        },
    )
}
