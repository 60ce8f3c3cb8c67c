use common::ErrorCode;
use domain::Profile;
use tests::{Someone, World};

#[tokio::test]
async fn everybody_sees_six_fields_members_and_super_admins_all() {
    let world = World::new().await;
    let other = world.another_committee("Sfax", true).await;
    let path = format!("/committees/{other}");
    for (person, fields) in [
        (world.stranger(), 6),
        (world.stranger().holding("Bearer rubbish"), 6),
        (world.member().await, 6),
        (
            world.person(Someone::with(Profile::CommitteeAdmin)).await,
            6,
        ),
        (
            world.person(Someone::with(Profile::Member).of(other)).await,
            15,
        ),
        (
            world
                .person(Someone::with(Profile::Member).of(other).unverified())
                .await,
            15,
        ),
        (world.admin().await, 15),
    ] {
        let body = person.get(&path).await.shows();
        assert_eq!(body["committee"].as_object().unwrap().len(), fields);
    }
}

#[tokio::test]
async fn a_closed_one_is_there_for_super_admins_alone() {
    let world = World::new().await;
    let closed = world.another_committee("Fermé", false).await;
    let path = format!("/committees/{closed}");
    world
        .stranger()
        .get(&path)
        .await
        .refuses(ErrorCode::CommitteeNotFound);
    world
        .member()
        .await
        .get(&path)
        .await
        .refuses(ErrorCode::CommitteeNotFound);
    world.admin().await.get(&path).await.shows();
}

#[tokio::test]
async fn what_is_no_identifier_is_a_committee_that_is_not_there() {
    let world = World::new().await;
    for id in ["x", "%2e%2e", "0198c0de-0000-7000-8000-000000000001"] {
        world
            .stranger()
            .get(&format!("/committees/{id}"))
            .await
            .refuses(ErrorCode::CommitteeNotFound);
    }
}
