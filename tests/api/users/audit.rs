use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{Someone, World};

#[tokio::test]
async fn what_was_done_to_whom_is_listed_newest_first_without_what_is_personal() {
    let world = World::new().await;
    let admin = world.admin().await;
    let member = world.account(&Someone::with(Profile::Member)).await;
    let path = format!("/team/{}", member.user_id);
    admin
        .put(&path, json!({ "profile": "TR", "name": "Leïla" }))
        .await
        .tells(Message::TeamMemberUpdated);
    admin
        .put(
            &format!("/users/user-status/{}", member.user_id),
            json!({ "isActive": false }),
        )
        .await
        .tells(Message::UserStatusUpdated);
    let audit = admin.get("/audit").await.shows()["audit"].clone();
    assert_eq!(audit.as_array().unwrap().len(), 2);
    assert_eq!(
        (&audit[0]["action"], &audit[1]["action"]),
        (&json!("USER_STATUS_CHANGED"), &json!("TEAM_MEMBER_UPDATED"))
    );
    assert_eq!(
        (&audit[0]["before"], &audit[0]["after"]),
        (&json!({ "isActive": true }), &json!({ "isActive": false }))
    );
    assert_eq!(audit[1]["after"], json!({ "name": "***", "profile": "TR" }));
    assert_eq!(audit[1]["actorID"], json!(admin.user().user_id));
    for who in [member.user_id, admin.user().user_id] {
        assert_eq!(
            admin.get(&format!("/audit?userID={who}")).await.shows()["audit"]
                .as_array()
                .unwrap()
                .len(),
            2
        );
    }
    assert_eq!(
        admin.get("/audit?userID=x").await.shows()["audit"],
        json!([])
    );
    let page = admin.get("/audit?limit=1").await.shows();
    let next = admin
        .get(&format!(
            "/audit?limit=1&cursor={}",
            page["nextCursor"].as_str().unwrap()
        ))
        .await
        .shows();
    assert_eq!(
        (&next["audit"][0], &next["nextCursor"]),
        (&audit[1], &json!(null))
    );
}

#[tokio::test]
async fn an_administrator_sees_his_committee_and_others_nothing() {
    let world = World::new().await;
    let sfax = world.another_committee("Sfax", true).await;
    let admin = world.admin().await;
    let (near, far) = (
        world.account(&Someone::with(Profile::Member)).await,
        world
            .account(&Someone::with(Profile::Member).of(sfax))
            .await,
    );
    for user in [&near, &far] {
        admin
            .put(&format!("/team/{}", user.user_id), json!({ "role": "x" }))
            .await
            .tells(Message::TeamMemberUpdated);
    }
    let own = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    for query in ["", &format!("?userID={}", admin.user().user_id)] {
        let audit = own.get(&format!("/audit{query}")).await.shows()["audit"].clone();
        assert_eq!(audit.as_array().unwrap().len(), 1);
        assert_eq!(audit[0]["targetID"], json!(near.user_id));
    }
    assert_eq!(
        own.get(&format!("/audit?userID={}", far.user_id))
            .await
            .shows()["audit"],
        json!([])
    );
    for someone in [
        Someone::with(Profile::Member),
        Someone::with(Profile::Trainer),
    ] {
        world
            .person(someone)
            .await
            .get("/audit")
            .await
            .refuses(ErrorCode::Forbidden);
    }
}
