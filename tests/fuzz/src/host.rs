//! Host names and mail addresses: an accepted one has one normal form, which parses to itself, and A-labels decode to
//! their own script.

use domain::{
    Email,
    subdomain::{Label, RootDomain, Subdomain},
};

use crate::text;

pub(crate) fn run(input: &[u8]) {
    let Some(written) = text(input) else { return };
    let (label, root) = (written.parse::<Label>(), written.parse::<RootDomain>());
    if let Ok(label) = &label {
        assert_host(label.as_str(), 63);
        assert!(!label.as_str().contains('.') && label.as_str() != "www");
        assert_eq!(label.as_str().parse().as_ref(), Ok(label));
        let (shown, known) = idna::domain_to_unicode(label.as_str());
        assert!(
            known.is_ok() && shown.parse().as_ref() == Ok(label),
            "{written:?} is shown as {shown:?}"
        );
        let root: RootDomain = "example.org".parse().expect("a domain");
        assert!(Subdomain::new(label, &root).is_ok_and(|whole| whole.fqdn.len() <= 253));
    }
    if let Ok(root) = &root {
        assert_host(root.as_str(), 253);
        assert!(
            label.is_err() && root.as_str().split('.').all(|label| (1..=63).contains(&label.len()))
        );
        assert_eq!(root.as_str().parse().as_ref(), Ok(root));
        let label: Label = "a".parse().expect("a label");
        if let Ok(whole) = Subdomain::new(&label, root) {
            assert!(whole.fqdn.len() <= 253 && whole.fqdn.parse::<RootDomain>().is_ok());
        }
    }
    if let Ok(email) = written.parse::<Email>() {
        let address = email.as_str();
        assert!(
            address.len() <= 254 && address.bytes().all(|byte| byte.is_ascii_graphic()),
            "{address:?}"
        );
        assert!(
            !address.contains([',', ';', '<', '>', '"', '\\', '(', ')', '[', ']', ':'])
                && address.matches('@').count() == 1
        );
        assert_eq!(address.parse(), Ok(email.clone()), "{address:?}");
    }
}

fn assert_host(name: &str, longest: usize) {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    assert!(
        name.len() <= longest
            && name.bytes().all(plain)
            && !name.starts_with('-')
            && !name.ends_with('-'),
        "{name:?}"
    );
}
