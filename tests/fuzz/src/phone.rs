//! Phone numbers: an accepted number is E.164, and code plus number equals the whole number.

use domain::{E164, Mobile, Phone};

use crate::text;

pub(crate) fn run(input: &[u8]) {
    let Some(written) = text(input) else { return };
    if let Some((code, number)) = written.split_once(' ')
        && let Ok(phone) = Phone::parse(code, number)
    {
        let whole = E164::from(&phone);
        assert_eq!(whole.as_str().parse(), Ok(whole.clone()));
        assert_eq!((phone.code.as_str(), phone.number.as_str()), (code.trim(), number.trim()));
    }
    let (number, mobile) = (written.parse::<E164>(), written.parse::<Mobile>());
    if let Ok(number) = &number {
        let digits = number.as_str().strip_prefix('+').expect("it begins with a plus");
        assert!(
            (3..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
        );
        assert_eq!(number.as_str(), written.trim());
        let codes = (1..=3).filter_map(|length| digits.split_at_checked(length));
        let of_a_country =
            codes.filter(|(code, number)| Phone::parse(code, number).is_ok()).count();
        assert_eq!(of_a_country, 1, "{written} must be valid in exactly one country");
    }
    if let Ok(mobile) = &mobile {
        assert_eq!(number.as_ref(), Ok(&mobile.number));
        assert!(mobile.number.as_str()[1..].starts_with(&mobile.country_code.to_string()));
    }
}
