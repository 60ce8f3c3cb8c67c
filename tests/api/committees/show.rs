use common::ErrorCode;
use domain::Profile;
use tests::{NewPerson, World};

#[tokio::test]
async fn public_sees_six_fields_members_and_super_admins_all() {
    let world = World::new().await;
    let other = world.another_committee("Sfax", true).await;
    let path = format!("/committees/{other}");
    for (person, fields) in [
        (world.anonymous(), 6),
        (world.anonymous().with_token("Bearer rubbish"), 6),
        (world.member().await, 6),
        (world.person(Profile::CommitteeAdmin).await, 6),
        (world.person(NewPerson::with(Profile::Member).of(other)).await, 15),
        (world.person(NewPerson::with(Profile::Member).of(other).unverified()).await, 15),
        (world.admin().await, 15),
    ] {
        let body = person.get(&path).await.expect_ok();
        assert_eq!(body["committee"].as_object().unwrap().len(), fields);
    }
}

#[tokio::test]
async fn closed_committee_is_visible_to_its_members_and_super_admins() {
    let world = World::new().await;
    let closed = world.another_committee("Fermé", false).await;
    let path = format!("/committees/{closed}");
    world.anonymous().get(&path).await.expect_error(ErrorCode::CommitteeNotFound);
    world.member().await.get(&path).await.expect_error(ErrorCode::CommitteeNotFound);
    let member = world.person(NewPerson::with(Profile::Member).of(closed)).await;
    for person in [world.admin().await, member] {
        let committee = &person.get(&path).await.expect_ok()["committee"];
        assert_eq!(committee.as_object().unwrap().len(), 15);
        let list = person.get("/committees").await.expect_ok();
        let is_listed = list["committees"]
            .as_array()
            .unwrap()
            .iter()
            .any(|listed| listed["committeeID"] == committee["committeeID"]);
        assert_eq!(is_listed, person.user().profile == Profile::SuperAdmin);
    }
}

#[tokio::test]
async fn malformed_committee_id_returns_404() {
    let world = World::new().await;
    for id in ["x", "%2e%2e", "0198c0de-0000-7000-8000-000000000001"] {
        let answer = world.anonymous().get(&format!("/committees/{id}")).await;
        answer.expect_error(ErrorCode::CommitteeNotFound);
    }
}
