//! TLS in front of the embedded cloud, by a certificate that is made on the spot.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use bench::trouble;
use local::Trouble;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tempfile::TempDir;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

/// The roots that functions trust on AWS: ours stands behind them, since each is read at the start.
const AMAZON: &str = include_str!("../../../../shared/runtime/src/amazon-roots.pem");

/// Where the cloud is spoken to in TLS, and whom to trust for that.
pub(crate) struct Front {
    pub(crate) endpoint: String,
    /// The roots of AWS and the new one, in PEM.
    pub(crate) bundle: PathBuf,
    _folder: TempDir,
}

impl Front {
    /// Passes what comes in TLS on to `cloud`.
    pub(crate) async fn open(cloud: SocketAddr) -> Result<Self, Trouble> {
        let mut authority = CertificateParams::new(Vec::new()).map_err(trouble)?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(authority, KeyPair::generate().map_err(trouble)?)
                .map_err(trouble)?;
        let key = KeyPair::generate().map_err(trouble)?;
        let mut names = CertificateParams::new(vec!["localhost".to_owned()]).map_err(trouble)?;
        // Another name than the authority's: who has the same is taken for one who signed himself.
        names
            .distinguished_name
            .push(DnType::CommonName, "localhost");
        let certificate = names.signed_by(&key, &authority).map_err(trouble)?;

        let folder = tempfile::tempdir().map_err(trouble)?;
        let bundle = folder.path().join("bundle.pem");
        std::fs::write(&bundle, format!("{AMAZON}{}", authority.pem())).map_err(trouble)?;

        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(trouble)?;
        let config = config
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .map_err(trouble)?;
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(trouble)?;
        let endpoint = format!(
            "https://localhost:{}",
            listener.local_addr().map_err(trouble)?.port()
        );
        tokio::spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), cloud));
        Ok(Self {
            endpoint,
            bundle,
            _folder: folder,
        })
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, cloud: SocketAddr) {
    while let Ok((stream, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            // Who hangs up in the middle is a function that was ended.
            if let (Ok(mut inside), Ok(mut plain)) = (
                acceptor.accept(stream).await,
                TcpStream::connect(cloud).await,
            ) {
                let _ = plain.set_nodelay(true);
                let _ = copy_bidirectional(&mut inside, &mut plain).await;
            }
        });
    }
}
