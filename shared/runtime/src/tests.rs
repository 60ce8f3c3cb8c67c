use super::*;

#[test]
fn embedded_amazon_root_certificates_are_readable() {
    let settings =
        [("AWS_REGION", "eu-south-1"), ("AWS_ACCESS_KEY_ID", "x"), ("AWS_SECRET_ACCESS_KEY", "x")];
    assert!(Aws::new(&settings.into_iter().collect()).is_ok());
    assert_eq!(String::from_utf8_lossy(AMAZON_ROOTS).matches("BEGIN CERTIFICATE").count(), 5);
}
