//! `scheme://user:password@host:port,host:port/path?option=value`, the same for all stores.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::fs::Metadata;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use txid_agent_machines::store::StoreError;

use super::address::Address;
use super::durability::Durability;
use super::scheme::{self, Kind, Scheme};
use super::tls::Tls;

/// The variable for a store that is not on the command line.
pub const STORE_VARIABLE: &str = "TXID_STORE";
/// The variable for a password that is neither in the URL nor in a file.
pub const PASSWORD_VARIABLE: &str = "TXID_STORE_PASSWORD";

/// The values of these variables, once they were taken from the environment.
static SECRETS: OnceLock<Vec<(&str, String)>> = OnceLock::new();

/// Takes the secrets from the environment, where all processes of this user may read them.
///
/// # Safety
///
/// There must be no other thread: another could be reading the environment.
pub unsafe fn hide_secrets() {
    let mut secrets = Vec::new();
    for name in [STORE_VARIABLE, PASSWORD_VARIABLE] {
        let Ok(secret) = std::env::var(name) else { continue };
        secrets.push((name, secret));
        // SAFETY: the caller vouches for the one thread; the list ends with a null pointer, and each text with a zero. The
        // texts are this process's to write to.
        unsafe {
            let mut variable = environ;
            while let Some(&text) = variable.as_ref().filter(|text| !text.is_null()) {
                let name_and_value = CStr::from_ptr(text).to_bytes();
                let value = name_and_value.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
                if let Some(length) = value.map(<[u8]>::len) {
                    text.add(name_and_value.len() - length).write_bytes(0, length);
                }
                variable = variable.add(1);
            }
        }
    }
    let _ = SECRETS.set(secrets);
}

/// The value of a variable that may be hidden.
pub fn secret(name: &str) -> Option<String> {
    let secrets = SECRETS.get().map_or(&[][..], Vec::as_slice);
    let hidden = secrets.iter().find(|(known, _)| *known == name).map(|(_, secret)| secret.clone());
    hidden.or_else(|| std::env::var(name).ok()).filter(|secret| !secret.is_empty())
}

unsafe extern "C" {
    static environ: *const *mut c_char;
}

/// The options of every store.
const COMMON: [&str; 7] = ["timeout", "tls", "ca", "cert", "key", "password-file", "may-lose-writes"];

/// The parts of a store's URL.
pub(super) struct StoreUrl {
    pub scheme: &'static Scheme,
    pub user: Option<String>,
    pub password: Option<Secret>,
    /// At least one, except for `file`.
    pub hosts: Vec<Host>,
    /// The part after the hosts, decoded, without slashes at its ends.
    pub path: String,
    pub tls: Option<Tls>,
    pub address: Address,
    options: Vec<(String, String)>,
}

/// A host and its port.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Host {
    /// A name or an address; IPv6 addresses are without brackets.
    pub name: String,
    pub port: u16,
    /// One of its addresses, once it was looked up: each is a host of its own.
    pub at: Option<IpAddr>,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]:{}", self.name, self.port)
        } else {
            write!(f, "{}:{}", self.name, self.port)
        }
    }
}

/// A password, which neither `Debug` nor `Display` shows.
#[derive(Clone)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl StoreUrl {
    /// Parses `text`. Looks up the password, but opens no connection.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            let why = "a store is a URL such as etcd://10.0.0.5:2379/txid or file:///var/lib/txid/leases";
            // The text may be a password in the wrong place.
            return Err(StoreError::Misconfigured { store: "the store".to_owned(), why: why.to_owned() });
        };
        let hidden = |why| StoreError::Misconfigured { store: format!("{scheme}://..."), why };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        // A password with one of these characters, and its rest looks like a path or an option. Nothing of it is shown.
        if has_login_behind(authority, path, query) {
            return Err(hidden("in its user and password, write / as %2F, ? as %3F, : as %3A and @ as %40".to_owned()));
        }
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (Some(login), hosts),
            None => (None, authority),
        };
        let (user, password) = match login {
            Some(login) => login.split_once(':').map_or((Some(login), None), |(user, word)| (Some(user), Some(word))),
            None => (None, None),
        };
        let shown_user = user.filter(|user| !user.is_empty()).map(|user| format!("{user}@")).unwrap_or_default();
        let slash = if rest.contains('/') { "/" } else { "" };
        let mut address = Address::new(format!("{scheme}://{shown_user}{hosts}{slash}{path}"));

        let scheme = scheme::find(scheme).ok_or_else(|| {
            let known: Vec<_> = scheme::schemes().collect();
            address
                .misconfigured(format_args!("there is no store of the kind {scheme}; there are {}", known.join(", ")))
        })?;
        let decode = |text: &str| {
            percent_decode_str(text)
                .decode_utf8()
                .map(|text| text.into_owned())
                .map_err(|_| address.misconfigured("a %-escape in it is not UTF-8"))
        };
        let mut options = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if options.iter().any(|(known, _)| known == name) {
                return Err(address.misconfigured(format_args!("the option {name} was given twice")));
            }
            options.push((name.to_owned(), decode(value)?));
        }
        let user = user.filter(|user| !user.is_empty()).map(decode).transpose()?;
        let password = password.map(decode).transpose()?;
        let path_text = decode(path)?;
        let hosts = if scheme.kind == Kind::File {
            if !hosts.is_empty() {
                return Err(address.misconfigured("a directory's URL has three slashes: file:///var/lib/txid/leases"));
            }
            Vec::new()
        } else {
            hosts
                .split(',')
                .map(|host| {
                    Host::parse(host, scheme.port)
                        .ok_or_else(|| address.misconfigured(format_args!("{host:?} is not HOST or HOST:PORT")))
                })
                .collect::<Result<_, _>>()?
        };

        let mut url = Self {
            scheme,
            user,
            password: password.map(Secret),
            hosts,
            path: path_text.trim_matches('/').to_owned(),
            tls: None,
            address: address.clone(),
            options,
        };
        if let Some(timeout) = url.option("timeout") {
            address.timeout = timeout
                .parse::<jiff::SignedDuration>()
                .ok()
                .and_then(|timeout| Duration::try_from(timeout).ok())
                .filter(|timeout| (10..=60_000).contains(&timeout.as_millis()))
                .ok_or_else(|| {
                    address
                        .misconfigured(format_args!("timeout={timeout} is not a time between 10ms and 60s, such as 3s"))
                })?;
            url.address = address;
        }
        url.tls = url.find_tls()?;
        if url.password.is_none() {
            url.password = url.find_password()?;
        }
        Ok(url)
    }

    /// The value of an option, if it was given.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of an option that is on or off.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, StoreError> {
        match self.option(name) {
            None => Ok(None),
            Some("1") => Ok(Some(true)),
            Some("0") => Ok(Some(false)),
            Some(other) => {
                Err(self.address.misconfigured(format_args!("{name}={other} is neither {name}=1 nor {name}=0")))
            }
        }
    }

    /// Fails if an option is neither common to all stores nor in `own`.
    pub(super) fn knows_only(&self, own: &[&str]) -> Result<(), StoreError> {
        match self.options.iter().find(|(name, _)| !COMMON.contains(&name.as_str()) && !own.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => {
                let known = own.iter().chain(&COMMON).copied().collect::<Vec<_>>().join(", ");
                Err(self.address.misconfigured(format_args!("it has no option {name}; its options are {known}")))
            }
        }
    }

    /// Whether the store can lose a write that it confirmed, if the URL says so. If not, it is as is `known` of its kind.
    pub(super) fn durability(&self, known: Durability) -> Result<Durability, StoreError> {
        Ok(self.flag("may-lose-writes")?.map_or(known, |may_lose| Durability::Said { may_lose }))
    }

    /// The user and its password, for a store whose users all have one.
    pub(super) fn login(&self) -> Result<Option<(&str, &Secret)>, StoreError> {
        let Some(user) = self.user.as_deref() else { return Ok(None) };
        let password = self.password.as_ref().ok_or_else(|| {
            self.address.misconfigured(format_args!(
                "the user {user} has no password: set TXID_STORE_PASSWORD, or give ?password-file=FILE"
            ))
        })?;
        Ok(Some((user, password)))
    }

    fn find_tls(&self) -> Result<Option<Tls>, StoreError> {
        let wanted = self.scheme.is_tls
            || self.flag("tls")?.unwrap_or(self.option("ca").is_some() || self.option("cert").is_some());
        if !wanted {
            return Ok(None);
        }
        let file = |name| self.option(name).map(PathBuf::from);
        let identity = match (file("cert"), file("key")) {
            (Some(cert), Some(key)) => {
                self.check_secret("key", &key)?;
                Some((cert, key))
            }
            (None, None) => None,
            _ => return Err(self.address.misconfigured("cert= and key= go together")),
        };
        Tls::new(&self.address, file("ca"), identity).map(Some)
    }

    /// Refuses a file with a secret that others may read. If its rights cannot be seen, it cannot be read either, and that error says why.
    fn check_secret(&self, option: &str, file: &Path) -> Result<(), StoreError> {
        match std::fs::metadata(file) {
            Ok(status) if others_rights(&status) != 0 => Err(self.address.misconfigured(format_args!(
                "{option}={}: others may read or change this file (mode {:04o}): chmod 600 it, and take a new secret if somebody may \
                 have read this one",
                file.display(),
                status.mode() & 0o7777
            ))),
            _ => Ok(()),
        }
    }

    fn find_password(&self) -> Result<Option<Secret>, StoreError> {
        if let Some(file) = self.option("password-file") {
            self.check_secret("password-file", Path::new(file))?;
            let text = crate::file::read(file)
                .map_err(|error| self.address.misconfigured(format_args!("password-file={file}: {error}")))?;
            return Ok(Some(Secret(text.trim_end_matches(['\r', '\n']).to_owned())));
        }
        Ok(secret(PASSWORD_VARIABLE).map(Secret))
    }
}

/// The permissions of a file with a secret that others have and should not. Root may let a group read it, as PostgreSQL's
/// clients allow: so do packages, and Kubernetes with an fsGroup.
fn others_rights(status: &Metadata) -> u32 {
    let forbidden = if status.uid() == 0 { 0o037 } else { 0o077 };
    if status.is_file() { status.mode() & forbidden } else { 0 }
}

/// Whether there is a password in the text of a URL, where other users of the host may read it.
pub fn has_password(url: &str) -> bool {
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?']).next());
    let login = authority.and_then(|authority| authority.rsplit_once('@')).map(|(login, _)| login);
    login.and_then(|login| login.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
}

/// Whether there is an `@` where no user and password can be. Names of files may contain one. But where no host stands before
/// them, it may be a login's.
fn has_login_behind(authority: &str, path: &str, query: &str) -> bool {
    let is_host = |host| Host::parse(host, 1).is_some();
    let may_be_login = !authority.is_empty() && !authority.contains('@') && !authority.split(',').all(is_host);
    let is_file = |pair: &str| ["password-file=", "ca=", "cert=", "key="].iter().any(|name| pair.starts_with(name));
    path.contains('@') || query.split('&').any(|pair| pair.contains('@') && (may_be_login || !is_file(pair)))
}

impl Host {
    pub(super) fn new(name: &str, port: u16) -> Self {
        Self { name: name.to_owned(), port, at: None }
    }

    fn parse(text: &str, default_port: u16) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (name, rest) = rest.split_once(']')?;
                (name, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
            }
            None => text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port))),
        };
        let port = port.map_or(Some(default_port), |port| port.parse().ok().filter(|port| *port != 0))?;
        (!name.is_empty()).then(|| Self::new(name, port))
    }

    /// Whether nothing leaves this host on the way there.
    pub(super) fn is_this_one(&self) -> bool {
        self.name == "localhost" || self.name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    /// The password's file and that of a certificate's key.
    #[test]
    fn a_secret_that_others_may_read_is_refused() {
        let directory = tempfile::TempDir::new().unwrap();
        let file = directory.path().join("secret");
        fs::write(&file, "secret").unwrap();
        let is_roots = fs::metadata(&file).unwrap().uid() == 0;
        let name = file.display();
        for (option, url) in [
            ("password-file", format!("redis://a?password-file={name}")),
            ("key", format!("rediss://a?cert={name}&key={name}")),
        ] {
            for mode in [0o600, 0o400, 0o640, 0o440, 0o644, 0o604, 0o602, 0o620, 0o660] {
                fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
                let said = StoreUrl::parse(&url).err().map(|error| error.to_string()).unwrap_or_default();
                let why = "chmod 600 it, and take a new secret if somebody may have read this one";
                let wanted = format!("{option}={name}: others may read or change this file (mode {mode:04o}): {why}");
                let is_good = mode & 0o077 == 0 || is_roots && [0o640, 0o440].contains(&mode);
                assert_eq!(
                    said.ends_with(&format!(" cannot be used: {wanted}")),
                    !is_good,
                    "{option}, {mode:o}: {said}"
                );
            }
        }
    }

    #[test]
    fn the_parts_of_a_url() {
        let parse = |url: &str| StoreUrl::parse(url).unwrap();
        let url = parse("redis://us%40er:wo%2Frd@a,b:2,[::1],[::2]:3/x%20/y/?prefix=a%26b&timeout=1500ms&wait");
        assert_eq!((url.user.as_deref(), url.password.as_ref().map(Secret::reveal)), (Some("us@er"), Some("wo/rd")));
        let hosts: Vec<_> = url.hosts.iter().map(|host| (host.to_string(), host.name.as_str(), host.port)).collect();
        let host = |shown: &str, name, port| (shown.to_owned(), name, port);
        let wanted = [
            host("a:6379", "a", 6379),
            host("b:2", "b", 2),
            host("[::1]:6379", "::1", 6379),
            host("[::2]:3", "::2", 3),
        ];
        assert_eq!(hosts, wanted);
        assert_eq!((url.path.as_str(), url.address.timeout), ("x /y", Duration::from_millis(1_500)));
        assert_eq!(["prefix", "wait", "other"].map(|name| url.option(name)), [Some("a&b"), Some(""), None]);
        let why = "redis://us%40er@a,b:2,[::1],[::2]:3/x%20/y/ cannot be used: no";
        assert_eq!(url.address.misconfigured("no").to_string(), why, "without the password");
        assert_eq!(parse("redis://:word@a").user, None);
        let flag = |value: &str| parse(&format!("redis://a?x={value}")).flag("x").map_err(|error| error.to_string());
        assert_eq!([flag("1"), flag("0")], [Ok(Some(true)), Ok(Some(false))]);
        assert_eq!(
            (parse("redis://a").flag("x"), parse("redis://a").address.timeout),
            (Ok(None), Duration::from_secs(3))
        );
        let is_this_one = |host| Host::new(host, 1).is_this_one();
        assert_eq!(["localhost", "127.0.0.1", "127.9.9.9", "::1"].map(is_this_one), [true; 4]);
        assert_eq!(["local", "10.0.0.5", "::2", "localhost.example"].map(is_this_one), [false; 4]);
    }

    /// A line end at the end of the file is not part of it.
    #[test]
    fn a_password_is_the_line_of_its_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::set_permissions(file.path(), Permissions::from_mode(0o600)).unwrap();
        let url = format!("redis://u@a?password-file={}", file.path().display());
        for (text, wanted) in [("word\n", "word"), ("word\r\n\n", "word"), (" wo\nrd ", " wo\nrd "), ("", "")] {
            fs::write(file.path(), text).unwrap();
            let url = StoreUrl::parse(&url).unwrap();
            assert_eq!(url.login().unwrap().map(|(user, word)| (user, word.reveal())), Some(("u", wanted)));
        }
        assert!(StoreUrl::parse("redis://a").unwrap().login().unwrap().is_none());
    }

    #[test]
    fn passwords_are_seen() {
        for url in ["redis://:word@host", "mysql://user:word@host:1/db?tls=1", "etcd://u:w@a,b/txid"] {
            assert!(has_password(url), "{url}");
        }
        for url in
            ["redis://host:1/0", "mysql://user@host:1/db?password-file=a:b@c", "mysql://user:@host/db", "file:///a:b@c"]
        {
            assert!(!has_password(url), "{url}");
        }
    }

    #[test]
    fn a_url_with_certificates_means_tls_unless_it_says_no() {
        let key = tempfile::NamedTempFile::new().unwrap();
        let path = key.path().display();
        for (url, wanted) in [
            ("redis://host".to_owned(), false),
            ("rediss://host".to_owned(), true),
            ("redis://host?tls=1".to_owned(), true),
            (format!("redis://host?ca={path}"), true),
            (format!("redis://host?cert={path}&key={path}"), true),
            (format!("redis://host?ca={path}&tls=0"), false),
        ] {
            // Only for TLS, the file is read and found to be empty.
            assert_eq!(StoreUrl::parse(&url).is_ok_and(|url| url.tls.is_none()), !wanted, "{url}");
        }
    }

    #[test]
    fn no_part_of_a_password_is_taken_for_the_name_of_a_file() {
        for (url, is_good) in [
            ("redis://user:SECRET?ca=@host", false),
            ("other://user:SECRET?key=@host", false),
            ("redis://a:1,user:SECRET?password-file=/x@host", false),
            ("redis://a:1,b?password-file=/run/credentials/txid-agent@a.service/password", true),
            ("redis://user@a?password-file=/x@y", true),
            ("redis://user:word@a?ca=/nowhere/x@y", true),
            ("file:///directory?ca=/nowhere/x@y", true),
        ] {
            let said = StoreUrl::parse(url).err().map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(!said.contains("in its user and password, write "), is_good, "{said}");
            assert!(!said.contains("SECRET"), "{said}");
        }
    }

    proptest! {
        #[test]
        fn no_error_shows_a_password(
            scheme in "redis|etcd|mysql|zookeeper|consul|file|other",
            before in "[a-z/:@?&=#%,0-9]{0,6}",
            after in "[a-z/:@?&=#%,0-9]{0,6}",
            rest in "(host|host:1|:x|)(/[a-z/]{0,5})?([?](timeout=1s|a=b|ca=/x|tls=2|wait=))?",
        ) {
            // The whole is a password, written as it is: some of these are no valid URLs, and none may show `SECRET`. If it may end
            // a host's name and begin that of a file, the whole is a valid URL, without a password.
            let names_file = ["ca=", "key="].iter().any(|name| format!("{before}{after}").contains(name));
            prop_assume!(!(names_file && before.contains(['@', ',', '/', '?'])));
            let url = format!("{scheme}://user:{before}SECRET{after}@{rest}");
            if let Err(error) = StoreUrl::parse(&url) {
                prop_assert!(!error.to_string().contains("SECRET"), "{url}: {error}");
            }
            if let Ok(url) = StoreUrl::parse(&url) {
                prop_assert!(!url.address.misconfigured("").to_string().contains("SECRET"));
            }
        }

        #[test]
        fn any_text_is_a_url_or_an_error(text in "[a-z]{0,5}(://)?[ -~]{0,40}") {
            let _ = StoreUrl::parse(&text);
        }
    }
}
