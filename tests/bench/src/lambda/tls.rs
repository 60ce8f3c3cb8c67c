//! Terminates TLS in front of the local cloud, with a generated certificate.

use std::{fs, net::SocketAddr, path::Path, sync::Arc};

use bench::Result;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

/// The roots that functions trust on AWS. The bundle contains them too, because functions parse all roots at start.
const AMAZON_ROOTS: &str = include_str!("../../../../shared/runtime/src/amazon-roots.pem");

/// Forwards TLS connections to `cloud`, and writes the trusted roots to `bundle`; returns the URL.
pub(crate) async fn open(cloud: SocketAddr, bundle: &Path) -> Result<String> {
    let mut authority = CertificateParams::new([])?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate()?;
    let authority = CertifiedIssuer::self_signed(authority, key)?;
    fs::write(bundle, format!("{AMAZON_ROOTS}{}", authority.pem()))?;
    let key = KeyPair::generate()?;
    let mut names = CertificateParams::new(["localhost".to_owned()])?;
    // With the same name as the authority, the certificate would count as self-signed.
    names.distinguished_name.push(DnType::CommonName, "localhost");
    let certificate = names.signed_by(&key, &authority)?;

    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config =
        config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key);
    let acceptor = TlsAcceptor::from(Arc::new(config?));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(forward(acceptor.clone(), stream, cloud));
        }
    });
    Ok(format!("https://localhost:{port}"))
}

async fn forward(acceptor: TlsAcceptor, stream: TcpStream, cloud: SocketAddr) {
    let _ = stream.set_nodelay(true);
    let opened = tokio::join!(acceptor.accept(stream), TcpStream::connect(cloud));
    if let (Ok(mut encrypted), Ok(mut plain)) = opened {
        let _ = plain.set_nodelay(true);
        let _ = copy_bidirectional(&mut encrypted, &mut plain).await;
    }
}
