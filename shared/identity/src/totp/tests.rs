use super::*;
use crate::NamedKey;

#[test]
fn totp_secret_formats_agree_and_are_stable() {
    let sealer = Sealer::new(vec![NamedKey::generate("k")]).unwrap();
    let user = UserId::new(uuid::Uuid::from_u128(7));
    let email: Email = "amel+a@example.org".parse().unwrap();
    let secrets = shown_secrets(&sealer, user, &email, false, None);
    let (ascii, url) = (secrets.otp_ascii.as_bytes(), &secrets.otp_auth_url);
    assert_eq!(HEXLOWER.decode(secrets.otp_hex.as_bytes()).unwrap(), ascii);
    assert_eq!(BASE32_NOPAD.decode(secrets.otp_base32.as_bytes()).unwrap(), ascii);
    assert!(url.starts_with("otpauth://totp/Halqa:amel%2Ba%40example.org?"), "{url}");
    assert!(url.ends_with(&format!("&secret={}", secrets.otp_base32)));
    assert_eq!(shown_secrets(&sealer, user, &email, false, None), secrets);
    let verified = shown_secrets(&sealer, user, &email, true, None);
    assert_eq!([verified.otp_hex, verified.otp_ascii, verified.otp_base32], ["", "", ""]);
    assert!(!verified.otp_auth_url.contains("secret="));
}

/// Test vectors of RFC 6238 appendix B; the last six of their eight digits.
#[test]
fn totp_codes_match_rfc_6238() {
    let secret = Secret(*b"12345678901234567890");
    for (seconds, code) in [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ] {
        let now = Instant::from_unix_milliseconds(seconds * 1000);
        let step = u64::try_from(seconds / 30).unwrap();
        assert_eq!(secret.step_of(code, now, 0), Some(step));
        assert_eq!(secret.step_of(code, now, step), None, "used once already");
        assert_eq!(secret.step_of(code, now, step + 1), None, "older than the last accepted step");
        for (moved, taken) in [(-60, false), (-30, true), (30, true), (60, false)] {
            let then = Instant::from_unix_milliseconds((seconds + moved) * 1000);
            assert_eq!(secret.step_of(code, then, 0).is_some(), taken, "{moved} s");
        }
    }
    for malformed in ["", "28708", "2870822", "28708a", "٢٨٧٠٨٢", " 287082", "+87082"] {
        let now = Instant::from_unix_milliseconds(59_000);
        assert_eq!(secret.step_of(malformed, now, 0), None, "{malformed}");
    }
}

#[test]
fn totp_secret_uses_all_printable_ascii() {
    let secret = |end: [u8; 2]| {
        let mut random = [0; 32];
        random[30..].copy_from_slice(&end);
        Secret::from_random(&random).0
    };
    // least significant digit first
    assert_eq!(&secret([0, 93])[..3], b"~!!");
    assert_eq!(&secret([0, 94])[..3], b"!\"!");
    assert_eq!(&secret([0x22, 0x84])[..3], b"!!\"", "94 × 94");
    let characters: std::collections::HashSet<u8> =
        (0..200).flat_map(|_| Secret::generate().0).collect();
    assert_eq!(characters, (b'!'..=b'~').collect());
}

#[test]
fn recovery_codes_are_distinct_and_ignore_case_and_separators() {
    let secret = Secret::generate();
    let codes = recovery_codes();
    let all: std::collections::HashSet<String> =
        codes.iter().map(|code| secret.recovery_mac(code)).collect();
    assert_eq!(all.len(), RECOVERY_CODES);
    for code in &codes {
        let groups: Vec<usize> = code.split('-').map(str::len).collect();
        assert_eq!(groups, [5; 5], "{code}");
    }
    let typed = format!(" {} ", codes[0].to_lowercase().replace('-', " "));
    assert_eq!(secret.recovery_mac(&typed), secret.recovery_mac(&codes[0]));
    assert_ne!(Secret::generate().recovery_mac(&codes[0]), secret.recovery_mac(&codes[0]));
}

/// Recovery codes had 15 letters before. What is stored of them must stay valid.
#[test]
fn recovery_code_of_fifteen_letters_has_the_same_hash_as_before() {
    assert_eq!(
        Secret(*b"12345678901234567890").recovery_mac("ABCDE-FGHJK-MNPQR"),
        "4ca8351921e5b078a639d422e6e386c1a6ae84700850d66de9890f91c35b5c3b"
    );
}
