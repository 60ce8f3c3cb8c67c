use std::time::Duration;

use common::{ErrorCode, Message};
use domain::{CourseId, Profile, course::Course};
use identity::random;
use serde_json::{Value, json};
use store::CommitOutcome;
use tests::{NewPerson, Person, World, expect_fields};

use super::{announced, titles};
use crate::registrations::{DAY, automatic};

/// A course from `start` to `end`, in days from now.
async fn lasting(world: &World, person: &Person, title: &str, days: [i32; 2]) -> String {
    let now = world.clock().now();
    let day = |days: i32| {
        let distance = DAY * days.unsigned_abs();
        if days < 0 { now.before(distance) } else { now.after(distance) }
    };
    let [start, end] = days.map(day);
    announced(person, json!({ "courseTitle": title, "startAt": start, "endAt": end })).await
}

/// Courses that are over, have begun, are to come, and have no dates, of all lengths, in a mixed order of publication.
async fn mixed() -> World {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    announced(&trainer, json!({ "courseTitle": "sans date 1" })).await;
    for (title, days) in [
        ("dans un mois", [30, 31]),
        ("commencé il y a un an", [-365, 20]),
        ("fini hier", [-3, -1]),
        ("commencé il y a un mois", [-30, 20]),
        ("dans deux jours, un an", [2, 400]),
        ("fini il y a un an", [-400, -365]),
        ("commencé hier", [-1, 1]),
        ("demain", [1, 2]),
        ("commencé il y a trois jours", [-3, 7]),
    ] {
        lasting(&world, &trainer, title, days).await;
    }
    let end = world.clock().now().after(DAY * 3);
    announced(&trainer, json!({ "courseTitle": "fin dans trois jours", "endAt": end })).await;
    world.clock().advance(Duration::from_millis(5));
    announced(&trainer, json!({ "courseTitle": "sans date 2" })).await;
    world
}

#[tokio::test]
async fn courses_come_by_start_and_without_dates_last_and_newest_first() {
    let world = mixed().await;
    let by_start = [
        "commencé il y a un an",
        "commencé il y a un mois",
        "commencé il y a trois jours",
        "commencé hier",
        "demain",
        "dans deux jours, un an",
        "fin dans trois jours",
        "dans un mois",
        "sans date 2",
        "sans date 1",
    ];
    let newest = [
        "sans date 2",
        "fin dans trois jours",
        "commencé il y a trois jours",
        "demain",
        "commencé hier",
        "dans deux jours, un an",
        "commencé il y a un mois",
        "commencé il y a un an",
        "dans un mois",
        "sans date 1",
    ];
    for limit in [1, 3, 10, 100] {
        assert_eq!(titles(&world, "", limit).await, by_start, "{limit}");
        assert_eq!(titles(&world, "order=start", limit).await, by_start, "{limit}");
        assert_eq!(titles(&world, "order=newest", limit).await, newest, "{limit}");
    }
    // Nobody writes, and what is over leaves.
    world.clock().advance(DAY * 2);
    for order in ["start", "newest"] {
        let left = titles(&world, &format!("order={order}"), 100).await;
        assert_eq!(left.len(), 8, "{left:?}");
        assert!(!left.iter().any(|title| title == "commencé hier" || title == "demain"));
    }
}

#[tokio::test]
async fn period_selects_the_courses_that_overlap_it() {
    let world = mixed().await;
    let now = world.clock().now();
    let (ago, ahead) = (|days| now.before(DAY * days), |days| now.after(DAY * days));
    for (query, expected) in [
        (format!("from={}&to={}", ago(500), ago(380)), vec!["fini il y a un an"]),
        (
            format!("from={}&to={}", ago(2), ago(2)),
            vec![
                "commencé il y a un an",
                "commencé il y a un mois",
                "fini hier",
                "commencé il y a trois jours",
            ],
        ),
        (format!("from={}", ahead(25)), vec!["dans deux jours, un an", "dans un mois"]),
        (format!("from={}&to={}", ahead(500), ahead(600)), vec![]),
    ] {
        for limit in [1, 100] {
            let mut found = titles(&world, &query, limit).await;
            assert_eq!(found, expected, "{query}");
            found.sort();
            let mut newest = titles(&world, &format!("{query}&order=newest"), limit).await;
            newest.sort();
            assert_eq!(newest, found, "{query}");
        }
    }
    let up_to = titles(&world, &format!("to={}", now), 100).await;
    assert_eq!(up_to.len(), 4, "begun and not over: {up_to:?}");
}

#[tokio::test]
async fn card_has_committee_and_registration_but_no_contact() {
    let world = World::new().await;
    let trainer = world.person(Profile::Trainer).await;
    let id = announced(
        &trainer,
        json!({
            "courseSubTitle": "Niveau 2", "price": 45.5, "location": "Salle 3", "region": "Béja", "city": "Béja",
            "startAt": "2031-03-09T08:00:00Z", "endAt": "2031-03-10T15:00:00Z",
        }),
    )
    .await;
    let settings =
        json!({ "mode": "AUTOMATIC", "capacity": 1, "waitlistLimit": 5, "audience": "COMMITTEE" });
    let path = format!("/registrations/{id}");
    trainer.put(&format!("{path}/settings"), settings).await.expect_ok();
    for _ in 0..2 {
        world.member().await.post(&path, json!({})).await.expect_created();
    }
    let page = world.anonymous().get("/catalogue").await.expect_ok();
    let committee = world.setup().store.committee(world.committee()).await.unwrap().unwrap();
    let published_at =
        trainer.get(&format!("/courses/{id}")).await.json()["course"]["publishedAt"].clone();
    let card = json!({
        "courseID": id, "courseTitle": "Soudure", "courseSubTitle": "Niveau 2", "courseType": "ONLINE",
        "sectionOfMatter": "Énergie", "language": "FR", "price": 45.5, "currency": "TND", "location": "Salle 3",
        "region": "Béja", "city": "Béja", "startAt": "2031-03-09T08:00:00.000Z", "endAt": "2031-03-10T15:00:00.000Z",
        "committee": {
            "committeeID": world.committee(), "nameArabe": committee.name_arabe, "nameLatin": committee.name_latin,
        },
        "registration": {
            "status": "WAITLIST", "capacity": 1, "free": 0, "waiting": 1, "opensAt": published_at,
            "closesAt": "2031-03-09T08:00:00.000Z", "audience": "COMMITTEE",
        },
    });
    assert_eq!(page, json!({ "code": 200, "courses": [card], "nextCursor": null }));
}

#[tokio::test]
async fn filters_compare_folded_texts_and_hold_together() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let outsider = world.person(NewPerson::with(Profile::Trainer).of(elsewhere)).await;
    let course = json!({
        "courseTitle": "Projets d’électricité", "region": "Béja", "city": "Téboursouk", "sectionOfMatter": "Énergie",
    });
    let id = announced(&trainer, course).await;
    let path = format!("/registrations/{id}/settings");
    trainer.put(&path, automatic(1, 0)).await.expect_ok();
    let arabic = json!({
        "courseTitle": "السلامة المهنيّة", "language": "AR", "courseType": "SELF_PACED", "city": "صفاقس",
    });
    announced(&outsider, arabic).await;
    world.deliver().await;
    let (french, arabic) = ("Projets d’électricité", "السلامة المهنيّة");
    for (query, expected) in [
        ("region=BEJA".to_owned(), vec![french]),
        ("city=teboursouk".to_owned(), vec![french]),
        ("city=teb".to_owned(), vec![]),
        ("sectionOfMatter=energie".to_owned(), vec![arabic, french]),
        ("courseType=SELF_PACED".to_owned(), vec![arabic]),
        ("language=AR".to_owned(), vec![arabic]),
        (format!("committeeID={elsewhere}"), vec![arabic]),
        (format!("committeeID={}", CourseId::NONE), vec![]),
        ("q=projet".to_owned(), vec![french]),
        ("q=electricite+beja".to_owned(), vec![]),
        ("q=electricite+teboursouk".to_owned(), vec![french]),
        ("q=%D8%A7%D9%84%D8%B3%D9%84%D8%A7%D9%85%D9%87".to_owned(), vec![arabic]),
        ("q=".to_owned(), vec![arabic, french]),
        ("q=%21".to_owned(), vec![]),
        ("open=true".to_owned(), vec![french]),
        ("open=true&language=AR".to_owned(), vec![]),
        ("language=FR&q=projets&region=b%C3%A9ja&open=true".to_owned(), vec![french]),
    ] {
        for order in ["start", "newest"] {
            let found = titles(&world, &format!("order={order}&{query}"), 1).await;
            assert_eq!(found, expected, "{query}");
        }
    }
    world.member().await.post(&format!("/registrations/{id}"), json!({})).await.expect_created();
    assert_eq!(titles(&world, "open=true", 20).await, [""; 0], "full");
    trainer.put(&path, json!({ "mode": "MANUAL" })).await.expect_ok();
    assert_eq!(titles(&world, "open=true", 20).await, [french]);
}

#[tokio::test]
async fn invalid_filters_return_400() {
    let world = World::new().await;
    let visitor = world.anonymous();
    for (query, field, code) in [
        ("order=end", "order", ErrorCode::FieldValue),
        ("open=false", "open", ErrorCode::FieldValue),
        ("open=TRUE", "open", ErrorCode::FieldValue),
        ("courseType=online", "courseType", ErrorCode::FieldValue),
        ("language=fr", "language", ErrorCode::FieldFormat),
        ("committeeID=1", "committeeID", ErrorCode::FieldFormat),
        ("from=hier", "from", ErrorCode::FieldFormat),
        ("from=2027-01-02&to=2027-01-01", "to", ErrorCode::FieldValue),
        ("q=un+deux+trois+quatre+cinq+six", "q", ErrorCode::FieldLength),
        ("include=answers", "include", ErrorCode::FieldValue),
        ("include=availability", "include", ErrorCode::FieldValue),
        ("limit=0&order=end", "limit", ErrorCode::LimitInvalid),
        ("cursor=x&order=end", "cursor", ErrorCode::InvalidCursor),
    ] {
        let answer = visitor.get(&format!("/catalogue?{query}")).await;
        answer.expect_field_error(field, code);
        assert!(answer.header("cache-control").is_empty(), "{query}");
    }
    let several = visitor.get("/catalogue?order=end&open=1").await;
    assert_eq!(several.errors().len(), 2);
    visitor.post("/catalogue", json!({})).await.expect_error(ErrorCode::MethodNotAllowed);
}

#[tokio::test]
async fn catalogue_is_the_same_for_everybody_and_kept_for_a_minute() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    for title in ["Soudure", "Brasage"] {
        announced(&trainer, json!({ "courseTitle": title })).await;
    }
    let (visitor, path) = (world.anonymous(), "/catalogue?limit=1");
    let shown = visitor.get(path).await;
    assert_eq!(shown.header("cache-control"), "public, max-age=60");
    assert_eq!(trainer.get(path).await.json(), shown.json());
    assert_eq!(visitor.with_token("Bearer bad").get(path).await.json(), shown.json());
    let unchanged = visitor.with("if-none-match", shown.header("etag")).get(path).await;
    assert_eq!((unchanged.status, unchanged.header("cache-control")), (304, "public, max-age=60"));
    let cursor = trainer.get(path).await.json()["nextCursor"].as_str().unwrap().to_owned();
    let second = visitor.get(&format!("/catalogue?cursor={cursor}")).await.expect_ok();
    assert_eq!(second["courses"][0]["courseTitle"], "Soudure");
    for other in ["order=newest", "q=soudure", "open=true", "from=2026-01-01"] {
        let answer = visitor.get(&format!("/catalogue?{other}&cursor={cursor}")).await;
        answer.expect_error(ErrorCode::InvalidCursor);
    }
}

#[tokio::test]
async fn changed_course_moves_and_is_found_by_its_new_fields() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let id = lasting(&world, &trainer, "Soudure", [10, 11]).await;
    lasting(&world, &trainer, "Brasage", [5, 6]).await;
    assert_eq!(titles(&world, "", 20).await, ["Brasage", "Soudure"]);
    let path = format!("/courses/{id}");
    let mut course = trainer.get(&path).await.expect_ok()["course"].clone();
    course.as_object_mut().unwrap().remove("version");
    for (start, end, expected) in
        [(1, 90, vec!["Soudure", "Brasage"]), (7, 8, vec!["Brasage", "Soudure"])]
    {
        let now = world.clock().now();
        course["startAt"] = json!(now.after(DAY * start));
        course["endAt"] = json!(now.after(DAY * end));
        trainer.put(&path, course.clone()).await.expect_success(Message::CourseUpdated);
        assert_eq!(titles(&world, "", 20).await, expected);
    }
    course["startAt"] = Value::Null;
    course["endAt"] = Value::Null;
    course["courseTitle"] = json!("Forge");
    trainer.put(&path, course).await.expect_success(Message::CourseUpdated);
    assert_eq!(titles(&world, "", 1).await, ["Brasage", "Forge"]);
    assert_eq!(titles(&world, "q=soudure", 20).await, [""; 0]);
    assert_eq!(titles(&world, "q=forge", 20).await, ["Forge"]);
}

/// Writes `count` announced courses of one day each, one a minute from tomorrow on, directly to the store.
async fn stored(world: &World, count: u32) {
    let trainer = world.person(Profile::Trainer).await;
    let id = announced(&trainer, json!({ "courseTitle": "modèle" })).await;
    let store = &world.setup().store;
    let model = store.course(id.parse().unwrap()).await.unwrap().unwrap();
    trainer.post(&format!("/courses/{id}/to-draft"), json!({})).await.expect_ok();
    let now = world.clock().now();
    for number in 0..count {
        let start = now.after(DAY + Duration::from_secs(60) * number);
        let mut course: Course = model.clone();
        course.summary.course_id = CourseId::new(random::id(now));
        course.summary.content.course_title = format!("cours {number}").parse().unwrap();
        course.summary.content.start_at = Some(start);
        course.summary.content.end_at = Some(start.after(DAY));
        let mut tx = store.transaction();
        tx.new_course(&course, Vec::new());
        assert_eq!(tx.commit().await.unwrap(), CommitOutcome::Committed);
    }
}

#[tokio::test]
async fn call_reads_500_entries_and_goes_on_after_them() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    stored(&world, 620).await;
    let visitor = world.anonymous();
    let all = titles(&world, "", 100).await;
    let expected: Vec<String> = (0..620).map(|number| format!("cours {number}")).collect();
    assert_eq!(all, expected);
    for order in ["start", "newest"] {
        let mut path = format!("/catalogue?order={order}&q=619");
        let mut pages = Vec::new();
        loop {
            let answer = visitor.get(&path).await;
            assert!(answer.cost.reads < 80.0, "{:?}", answer.cost);
            let body = answer.expect_ok();
            pages.push(body["courses"].as_array().unwrap().len());
            let Some(cursor) = body["nextCursor"].as_str() else { break };
            path = format!("/catalogue?order={order}&q=619&cursor={cursor}");
        }
        assert_eq!(pages.iter().sum::<usize>(), 1, "{order}: {pages:?}");
        assert_eq!(pages.len(), 2, "{order}: {pages:?}");
    }
}

#[tokio::test]
async fn courses_of_closed_committees_leave_no_gap_in_a_page() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let outsider = world.person(NewPerson::with(Profile::Trainer).of(elsewhere)).await;
    for number in 0..8 {
        lasting(&world, &outsider, "Brasage", [1 + number, 2 + number]).await;
    }
    lasting(&world, &trainer, "Soudure", [20, 21]).await;
    lasting(&world, &trainer, "Forge", [22, 23]).await;
    let admin = world.admin().await;
    let path = format!("/committees/{elsewhere}");
    admin.put(&path, json!({ "isActive": false })).await.expect_ok();
    let page = world.anonymous().get("/catalogue?limit=2").await.expect_ok();
    expect_fields(&page["courses"][0], json!({ "courseTitle": "Soudure" }));
    expect_fields(&page["courses"][1], json!({ "courseTitle": "Forge" }));
    assert_eq!(page["nextCursor"], Value::Null);
}
