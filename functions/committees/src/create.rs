//! `POST /committees`: a super admin founds a committee.

use axum::extract::State;
use common::{
    Fields, FromFields, Input, Message, Now, Reply, SuperAdmin, flag, integer, text, text_or_empty,
    told,
};
use domain::{CommitteeId, E164, Line, committee::Committee};
use identity::chance;

use crate::{Committees, Shown, View};

/// The highest postal code; Tunisia's have four digits, its neighbours' five.
pub(crate) const MAX_POSTAL_CODE: u32 = 99_999;

/// A committee that has no identifier of its own yet.
pub(crate) struct NewCommittee(Committee);

impl<S> FromFields<S> for NewCommittee {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let name_arabe = fields.required("nameArabe", text);
        let name_latin = fields.required("nameLatin", text);
        let kind = fields.required("type", text);
        let date_of_est = fields.required("dateOfEst", text);
        let vat = fields.optional("VAT", text_or_empty::<Line<30>>);
        let address = fields.optional("address", text_or_empty::<Line<300>>);
        let region = fields.required("region", text);
        let city = fields.required("city", text);
        let postal_code = fields.required("postalCode", integer(0..=MAX_POSTAL_CODE));
        let is_active = fields.optional("isActive", flag);
        let primary_email = fields.required("primaryEmail", text);
        let secondary_email = fields.nullable("secondaryEmail", text);
        let primary_phone = fields.required("primaryPhone", text);
        let secondary_phone = fields.optional("secondaryPhone", text_or_empty::<E164>);
        Some(Self(Committee {
            committee_id: CommitteeId::in_path(""),
            name_arabe: name_arabe?,
            name_latin: name_latin?,
            r#type: kind?,
            date_of_est: date_of_est?,
            vat: vat?.unwrap_or_default(),
            address: address?.unwrap_or_default(),
            region: region?,
            city: city?,
            postal_code: postal_code?,
            is_active: is_active?.unwrap_or(true),
            primary_email: primary_email?,
            secondary_email: secondary_email?.flatten(),
            primary_phone: primary_phone?,
            secondary_phone: secondary_phone?.unwrap_or_default(),
        }))
    }
}

pub(crate) async fn create(
    State(state): State<Committees>,
    Now(now): Now,
    _: SuperAdmin,
    Input(new): Input<NewCommittee>,
) -> Reply<Shown> {
    let committee = Committee {
        committee_id: CommitteeId::new(chance::id(now)),
        ..new.0
    };
    state.store.create_committee(&committee).await?;
    told(
        Message::CommitteeCreated,
        Shown {
            committee: View::Whole(Box::new(committee)),
        },
    )
}
