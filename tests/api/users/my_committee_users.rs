use common::ErrorCode;
use domain::{Grant, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, Person, World};

/// The names on all pages.
async fn names(person: &Person, query: &str) -> Vec<String> {
    let users = person.pages(&format!("/users/my-committee-users?{query}"), "users").await;
    users
        .iter()
        .map(|user| format!("{} {}", text(&user["lastName"]), text(&user["name"])))
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

async fn named(world: &World, admin: &Person, someone: NewPerson, name: &str, last_name: &str) {
    let user = world.account(&someone).await;
    admin.change_member(user.user_id, json!({ "name": name, "lastName": last_name })).await;
}

#[tokio::test]
async fn list_is_sorted_by_folded_name_in_pages() {
    let (world, admin) = World::with_admin().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    for (name, last_name) in
        [("Élodie", "Zouari"), ("amel", "élyès"), ("Zied", "Abidi"), ("Amel", "abidi")]
    {
        named(&world, &admin, NewPerson::with(Profile::Member), name, last_name).await;
    }
    named(&world, &admin, NewPerson::with(Profile::Member).of(elsewhere), "Autre", "Part").await;
    let expected = ["abidi Amel", "Abidi Zied", "Admin Super", "élyès amel", "Zouari Élodie"];
    for limit in 1..=6 {
        assert_eq!(names(&admin, &format!("limit={limit}")).await, expected, "{limit}");
    }
}

#[tokio::test]
async fn filters_are_exact_and_search_matches_word_prefixes() {
    let (world, admin) = World::with_admin().await;
    named(&world, &admin, NewPerson::with(Profile::Trainer), "Élodie", "Ben Zouari").await;
    named(&world, &admin, NewPerson::with(Profile::Member).inactive(), "Amel", "Trabelsi").await;
    named(&world, &admin, NewPerson::with(Profile::Member), "Awa", "N'Diaye").await;
    for (query, expected) in [
        ("isActive=false", vec!["Trabelsi Amel"]),
        ("profile=TR", vec!["Ben Zouari Élodie"]),
        ("profile=TR&isActive=false", vec![]),
        ("q=zou", vec!["Ben Zouari Élodie"]),
        ("q=%C3%89LO", vec!["Ben Zouari Élodie"]),
        ("q=elo+ben", vec!["Ben Zouari Élodie"]),
        ("q=n%E2%80%99diaye", vec!["N'Diaye Awa"]),
        ("q=ouari", vec![]),
        ("q=admin@ex", vec!["Admin Super"]),
        ("q=", vec!["Admin Super", "Ben Zouari Élodie", "N'Diaye Awa", "Trabelsi Amel"]),
    ] {
        assert_eq!(names(&admin, query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn unverified_accounts_are_listed_where_accounts_are_shown() {
    let (world, admin) = World::with_admin().await;
    for (someone, name) in [
        (NewPerson::with(Profile::Member).unverified(), "Attente"),
        (NewPerson::with(Profile::Member), "Vérifié"),
        (NewPerson::with(Profile::Trainer).unverified(), "Zouari"),
    ] {
        let user = world.account(&someone).await;
        admin.change_member(user.user_id, json!({ "name": name, "lastName": name })).await;
    }
    let waiting = ["Attente Attente", "Zouari Zouari"];
    for (query, expected) in [
        ("isVerified=false", &waiting[..]),
        ("isVerified=false&limit=1", &waiting[..]),
        ("isVerified=false&profile=TR", &waiting[1..]),
        ("isVerified=false&isActive=false", &[]),
        ("isVerified=true", &["Admin Super", "Vérifié Vérifié"]),
    ] {
        assert_eq!(names(&admin, query).await, expected, "{query}");
    }
    // Cards do not show who is verified, so the filter does not disclose it.
    let member = world.member().await;
    let all = names(&member, "").await;
    for query in ["isVerified=false", "isVerified=true"] {
        assert_eq!(names(&member, query).await, all, "{query}");
    }
}

#[tokio::test]
async fn super_admin_lists_users_of_any_committee() {
    let (world, admin) = World::with_admin().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let closed = world.another_committee("Gabès", false).await;
    for (committee, name) in [(elsewhere, "Loin"), (closed, "Fermé")] {
        let someone = NewPerson::with(Profile::Member).of(committee);
        named(&world, &admin, someone, name, name).await;
    }
    for (query, expected) in [
        (String::new(), "Admin Super"),
        (format!("committeeID={}", world.committee()), "Admin Super"),
        (format!("committeeID={elsewhere}"), "Loin Loin"),
        (format!("committeeID={elsewhere}&q=loi"), "Loin Loin"),
        (format!("committeeID={closed}"), "Fermé Fermé"),
    ] {
        assert_eq!(names(&admin, &query).await, [expected], "{query}");
    }
    for unknown in ["x", "", "0198c0de-0000-7000-8000-00000000ffff"] {
        let answer = admin.get(&format!("/users/my-committee-users?committeeID={unknown}")).await;
        answer.expect_error(ErrorCode::CommitteeNotFound);
    }
}

#[tokio::test]
async fn other_committee_returns_403_to_all_but_super_admins() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    for someone in [
        NewPerson::with(Profile::Member),
        NewPerson::with(Profile::Member).granted(&[Grant::UsersRead]),
        NewPerson::with(Profile::Trainer),
        NewPerson::with(Profile::CommitteeAdmin),
    ] {
        let person = world.person(someone).await;
        let own = format!("committeeID={}", world.committee());
        assert_eq!(names(&person, &own).await, names(&person, "").await);
        // Before the other parameters are checked, and whether or not the committee exists.
        for query in [
            format!("committeeID={elsewhere}"),
            format!("committeeID={elsewhere}&limit=0"),
            "committeeID=x".to_owned(),
        ] {
            let answer = person.get(&format!("/users/my-committee-users?{query}")).await;
            answer.expect_error(ErrorCode::Forbidden);
        }
    }
}

#[tokio::test]
async fn filtered_pages_stay_complete_during_registrations() {
    let (world, admin) = World::with_admin().await;
    for name in ["b", "d", "f", "h"] {
        named(&world, &admin, NewPerson::with(Profile::Trainer), name, name).await;
    }
    // One joins before and one after each page's end.
    let mut later = ["a", "g", "c", "i", "e"].into_iter();
    let path = "/users/my-committee-users?profile=TR&limit=1";
    let found = admin.pages_beside(path, "users", async || {
        if let Some(name) = later.next() {
            named(&world, &admin, NewPerson::with(Profile::Trainer), name, name).await;
        }
    });
    let found: Vec<Value> = found.await.into_iter().map(|user| user["name"].clone()).collect();
    assert_eq!(found, ["b", "d", "f", "g", "h", "i"]);
}

#[tokio::test]
async fn filtered_pages_leave_out_no_match() {
    let (world, admin) = World::with_admin().await;
    let people = [
        ("a", Profile::Trainer),
        ("b", Profile::Trainer),
        ("c", Profile::Member),
        ("d", Profile::Trainer),
        ("e", Profile::Trainer),
    ];
    for (name, profile) in people {
        named(&world, &admin, NewPerson::with(profile), name, name).await;
    }
    for limit in 1..=7 {
        assert_eq!(
            names(&admin, &format!("profile=TR&limit={limit}")).await,
            ["a a", "b b", "d d", "e e"],
            "{limit}"
        );
    }
}

#[tokio::test]
async fn filter_with_few_matches_needs_at_most_four_round_trips() {
    let (world, admin) = World::with_admin().await;
    for _ in 0..310 {
        world.unhashed_account(Profile::Member).await;
    }
    named(&world, &admin, NewPerson::with(Profile::Trainer), "Zied", "Zouari").await;
    let page = admin.get("/users/my-committee-users?profile=TR&limit=1").await;
    assert!(page.cost.round_trips <= 4, "{:?}", page.cost);
    let page = page.expect_ok();
    assert_eq!(page["users"], json!([]));
    assert!(page["nextCursor"].is_string(), "the list continues");
    let elsewhere = world.another_committee("Sfax", true).await;
    let root = NewPerson::with(Profile::SuperAdmin).of(elsewhere);
    let root = world.person(root).await;
    let path =
        format!("/users/my-committee-users?profile=TR&limit=1&committeeID={}", world.committee());
    let page = root.get(&path).await;
    assert!(page.cost.round_trips <= 4, "{:?}", page.cost);
    page.expect_ok();
    for query in ["profile=TR&limit=1", "q=zou&limit=1"] {
        assert_eq!(names(&admin, query).await, ["Zouari Zied"], "{query}");
    }
}

#[tokio::test]
async fn shorter_name_is_sorted_before_its_extensions() {
    let (world, admin) = World::with_admin().await;
    for last_name in ["Ben!", "Ben Ali", "Ben", "Ben'x"] {
        named(&world, &admin, NewPerson::with(Profile::Member), "X", last_name).await;
    }
    assert_eq!(names(&admin, "q=ben").await, ["Ben X", "Ben Ali X", "Ben! X", "Ben'x X"]);
}

#[tokio::test]
async fn fields_depend_on_profile() {
    let world = World::new().await;
    for (someone, fields) in [
        (NewPerson::with(Profile::Member), 7),
        (NewPerson::with(Profile::Member).granted(&[Grant::UsersRead]), 17),
        (NewPerson::with(Profile::Trainer), 17),
        (NewPerson::with(Profile::CommitteeAdmin), 17),
    ] {
        let person = world.person(someone).await;
        let users = person.get("/users/my-committee-users").await.expect_ok()["users"].clone();
        assert!(
            users.as_array().unwrap().iter().all(|user| user.as_object().unwrap().len() == fields),
            "{users}"
        );
    }
    let member = world.member().await;
    assert_eq!(
        names(&member, "q=admin@").await,
        Vec::<String>::new(),
        "addresses are not shown to members"
    );
}

#[tokio::test]
async fn cursor_is_bound_to_its_filter_and_caller() {
    let world = World::new().await;
    let (admin, member) = (world.admin().await, world.member().await);
    let page = admin.get("/users/my-committee-users?limit=1").await.expect_ok();
    let cursor = text(&page["nextCursor"]);
    let elsewhere = world.another_committee("Sfax", true).await;
    for other in
        ["profile=MB".to_owned(), "isVerified=true".to_owned(), format!("committeeID={elsewhere}")]
    {
        let answer = admin.get(&format!("/users/my-committee-users?{other}&cursor={cursor}")).await;
        answer.expect_field_error("cursor", ErrorCode::InvalidCursor);
    }
    let answer = member.get(&format!("/users/my-committee-users?cursor={cursor}")).await;
    answer.expect_field_error("cursor", ErrorCode::InvalidCursor);
}
