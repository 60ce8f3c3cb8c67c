use super::*;

proptest::proptest! {
    #[test]
    fn sealed_value_opens_only_with_same_place_and_known_key(plaintext: Vec<u8>, place in "[a-z#/]{0,12}") {
        let (old, new) = (NamedKey::generate("old"), NamedKey::generate("new"));
        let before = Sealer::new(vec![old.clone()]).unwrap();
        let sealed = before.seal(&plaintext, &place).unwrap();
        let after = Sealer::new(vec![new.clone(), old]).unwrap();
        proptest::prop_assert_eq!(after.open(&sealed, &place), Ok(plaintext));
        proptest::prop_assert_eq!(after.open(&sealed, &format!("{place}x")), Err(SealingError));
        proptest::prop_assert_eq!(Sealer::new(vec![new]).unwrap().open(&sealed, &place), Err(SealingError));
    }
}

#[test]
fn repeatable_value_is_the_same_for_its_place_and_plaintext_alone() {
    let sealer = with_key_named("k");
    let seal = |plaintext: &[u8], place| sealer.seal_repeatably(plaintext, place).unwrap();
    let sealed = seal(b"ab", "c");
    assert_eq!(sealed, seal(b"ab", "c"));
    assert_eq!(sealer.open(&sealed, "c").unwrap(), b"ab");
    let nonces =
        [&sealed, &seal(b"a", "c"), &seal(b"ab", "d")].map(|sealed| sealed[2..28].to_owned());
    assert!(nonces[0] != nonces[1] && nonces[0] != nonces[2]);
}

/// Made with another implementation of HKDF and XChaCha20-Poly1305, which passes the draft's test vectors.
const SEALED: &str = "k.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXOWrRxrNzzGG1W6Y4_9ig9PCN61HBiBRN";
const PLACE: &str = "records USER#1 OTP sealed";

/// A sealer with one key, of 32 letters `A`.
fn with_key_named(kid: &str) -> Sealer {
    format!("{kid}:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=").parse().unwrap()
}

#[test]
fn value_of_another_implementation_opens() {
    assert_eq!(with_key_named("k").open(SEALED, PLACE).unwrap(), b"a secret");
}

#[test]
fn value_changed_in_any_byte_does_not_open() {
    let sealer = with_key_named("k");
    for at in 0..SEALED.len() {
        let mut bytes = SEALED.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'B' { b'C' } else { b'B' };
        let changed = String::from_utf8(bytes).unwrap();
        assert_eq!(sealer.open(&changed, PLACE), Err(SealingError), "{changed}");
        assert_eq!(sealer.open(&SEALED[..at], PLACE), Err(SealingError));
    }
    for place in ["", "records USER#2 OTP sealed", "k records USER#1 OTP sealed"] {
        assert_eq!(sealer.open(SEALED, place), Err(SealingError), "{place}");
    }
}

#[test]
fn value_does_not_open_under_another_name_of_its_key() {
    let renamed = SEALED.replacen("k.", "other.", 1);
    assert_eq!(with_key_named("other").open(&renamed, PLACE), Err(SealingError));
}
