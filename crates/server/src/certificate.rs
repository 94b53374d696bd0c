//! What TLS shows to browsers on the network: a certificate that the user has, or one that is made for this time.

use rcgen::{CertificateParams, KeyPair, PublicKeyData};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// A certificate and its key.
pub struct Certificate {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    /// Of one that was made for this time: the SHA-256 of its public key, in base 64.
    pin: Option<String>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("fingerprint", &self.fingerprint()).finish_non_exhaustive()
    }
}

/// Files of certificates and keys are small.
const LONGEST: u64 = 1 << 20;

impl Certificate {
    /// The certificates and the key in these PEM files.
    ///
    /// # Errors
    /// What cannot be read, in words.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, String> {
        let text = pem(certificate)?;
        let chain = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|error| format!("{}: {error}", certificate.display()))?;
        if chain.is_empty() {
            return Err(format!("{} has no certificate (-----BEGIN CERTIFICATE-----)", certificate.display()));
        }
        let key = PrivateKeyDer::from_pem_slice(&pem(key)?).map_err(|error| format!("{}: {error}", key.display()))?;
        Ok(Self { chain, key, pin: None })
    }

    /// One for these names and addresses, signed by itself, whose key nobody else has ever had.
    ///
    /// # Errors
    /// Names that cannot stand in a certificate.
    pub fn make(names: &[String]) -> Result<Self, String> {
        let failed = |error: rcgen::Error| format!("making a certificate for {}: {error}", names.join(", "));
        let key = KeyPair::generate().map_err(failed)?;
        let mut params = CertificateParams::new(names).map_err(failed)?;
        params.distinguished_name.push(rcgen::DnType::CommonName, "netloom ui");
        let certificate = params.self_signed(&key).map_err(failed)?;
        let pin = Some(base64(&Sha256::digest(key.subject_public_key_info())));
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        Ok(Self { chain: vec![certificate.der().clone()], key, pin })
    }

    /// The SHA-256 of the certificate, as browsers show it.
    pub fn fingerprint(&self) -> String {
        let digest = self.chain.first().map(Sha256::digest).unwrap_or_default();
        let pairs: Vec<String> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
        pairs.join(":")
    }

    /// By what programs know the key of one that was made for this time, as `curl --pinnedpubkey` takes it; none of one that others vouch for.
    pub(crate) fn pin(&self) -> Option<&str> {
        self.pin.as_deref()
    }

    /// What a listener needs.
    pub(crate) fn into_config(self) -> Result<Arc<ServerConfig>, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?.with_no_client_auth();
        let mut config = config
            .with_single_cert(self.chain, self.key)
            .map_err(|error| format!("the certificate and its key: {error}"))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// Bytes as letters (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let whole = three.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = char::from(LETTERS[whole >> (18 - 6 * place) & 63]);
            text.push(if place <= three.len() { letter } else { '=' });
        }
    }
    text
}

fn pem(path: &Path) -> Result<Vec<u8>, String> {
    netloom_regular::read(path, LONGEST).map_err(|error| {
        if netloom_regular::is_refused(&error) || error.kind() == ErrorKind::FileTooLarge {
            return format!("{} is no PEM file of a certificate or key", path.display());
        }
        format!("reading {}: {error}", path.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn one_that_is_made_can_be_used_and_is_told_by_its_digest() {
        let made = Certificate::make(&["classroom.example".into(), "192.0.2.1".into()]).unwrap();
        let fingerprint = made.fingerprint();
        assert_eq!(fingerprint.split(':').count(), 32);
        made.into_config().unwrap();
        assert_ne!(Certificate::make(&["localhost".into()]).unwrap().fingerprint(), fingerprint);
    }

    #[test]
    fn letters_are_those_of_the_standard() {
        for (bytes, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
        assert_eq!(Certificate::make(&["localhost".into()]).unwrap().pin().map(str::len), Some(44));
    }

    #[test]
    fn what_is_no_certificate_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty.pem");
        fs::write(&empty, "nothing").unwrap();
        assert!(Certificate::read(&empty, &empty).unwrap_err().contains("has no certificate"));
        assert!(Certificate::read(Path::new("/nowhere"), &empty).unwrap_err().contains("/nowhere"));
        assert!(Certificate::read(Path::new("/dev/zero"), &empty).unwrap_err().contains("no PEM file"));
    }
}
