//! A certificate that no browser trusts.

use std::{io, sync::Arc};

use rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer};

/// A server's configuration with a certificate for this machine, signed by itself.
pub(super) fn self_signed() -> io::Result<Arc<ServerConfig>> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()])
        .map_err(io::Error::other)?;
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![made.cert.into()], key))
        .map_err(io::Error::other)?;
    Ok(Arc::new(config))
}
