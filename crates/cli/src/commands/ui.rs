//! `netloom ui`

use super::{DONE, Failure, Outcome, print};
use crate::args::UiArgs;
use crate::talk;
use netloom_control::{find, running_labs};
use netloom_judge::ExitCode;
use netloom_server::{Certificate, Opened, Options, PAGE_IS_CURRENT, Role, Served, Share};
use std::io::{Write, stdout};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

pub(super) fn ui(args: &UiArgs) -> Outcome {
    let opened = args.what.as_deref().map(opened).transpose()?;
    let folder = folder(opened.as_ref())?;
    let home = folder.as_deref().unwrap_or(Path::new("."));
    let results =
        args.results.clone().or_else(|| results_folder(opened.as_ref())).unwrap_or_else(|| home.join("results"));
    let share = args.share.map(|address| share(address, args)).transpose()?;
    let failed = |error| Failure::new(ExitCode::Machine, format!("finding this program: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let fingerprint = share.as_ref().map(|share| share.certificate.fingerprint());
    let options = Options { opened, folder, results, port: args.port, share, keep: args.keep, program };
    netloom_server::serve(options, |served| print_addresses(served, fingerprint.as_deref()))?;
    DONE
}

/// What the word means: a file, a results folder, or a lab that is up.
fn opened(what: &Path) -> Result<Opened, Failure> {
    if what.is_file() {
        return Ok(Opened::File(what.to_owned()));
    }
    if what.is_dir() {
        let is_run = ["plan.json", "provenance.json", "report.json"].iter().any(|name| what.join(name).is_file());
        if is_run {
            return Ok(Opened::Results(what.to_owned()));
        }
        let message =
            format!("{} is no results folder of a run: to serve its lab files, call netloom ui in it", what.display());
        return Err(Failure::new(ExitCode::Usage, message));
    }
    let name = what.to_string_lossy().into_owned();
    if find(&name).is_ok() {
        return Ok(Opened::Lab(name));
    }
    let labs = running_labs()?;
    let up =
        if labs.is_empty() { "no lab is up".to_owned() } else { format!("these labs are up: {}", labs.join(", ")) };
    Err(Failure::new(
        ExitCode::Usage,
        format!("`{name}` is neither a file nor a results folder nor a lab that is up: {up}"),
    ))
}

/// The folder with the lab files: that of the file or lab, or the current one. Results that are looked at have none.
fn folder(opened: Option<&Opened>) -> Result<Option<PathBuf>, Failure> {
    let of_file = |file: &Path| match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    Ok(match opened {
        None => Some(PathBuf::from(".")),
        Some(Opened::File(file)) => Some(of_file(file)),
        // The folder of a lab's file may be gone by now.
        Some(Opened::Lab(name)) => {
            find(name)?.state.map(|state| of_file(&state.lab_file)).filter(|folder| folder.is_dir())
        }
        Some(Opened::Results(_)) => None,
    })
}

/// The folder that holds the results folder that is looked at, and those of a lab that is up.
fn results_folder(opened: Option<&Opened>) -> Option<PathBuf> {
    let folder = match opened? {
        Opened::Results(folder) => folder.canonicalize().ok()?,
        Opened::Lab(name) => find(name).ok()?.state?.results?,
        Opened::File(_) => return None,
    };
    folder.parent()?.parent().map(Path::to_owned)
}

fn share(address: IpAddr, args: &UiArgs) -> Result<Share, Failure> {
    let wrong = |message| Failure::new(ExitCode::Usage, message);
    let certificate = match (&args.certificate, &args.key) {
        (Some(certificate), Some(key)) => Certificate::read(certificate, key).map_err(wrong)?,
        _ => {
            let own = (!address.is_unspecified()).then(|| address.to_string());
            let known = ["localhost".to_owned(), "127.0.0.1".to_owned()];
            let names: Vec<String> = args.host.iter().cloned().chain(own).chain(known).collect();
            Certificate::make(&names).map_err(wrong)?
        }
    };
    Ok(Share { address, names: args.host.clone(), certificate })
}

fn print_addresses(served: &Served, fingerprint: Option<&str>) {
    for (role, address) in &served.addresses {
        if served.addresses.len() > 1 {
            talk::say(match role {
                Role::Edit => "for you: draws, brings labs up and down, runs programs as you",
                Role::Use => "for those who work with labs that are up; they run programs in nodes, as you",
                Role::Look => "for those who look on",
            });
        }
        // Nobody may be there to read it.
        let _ = print(address);
    }
    let _ = stdout().flush();
    if served.addresses.len() > 1 {
        talk::say("whoever opens one of the last two is asked for a name: Classroom, on your page, shows who is here");
    }
    if let Some(fingerprint) = fingerprint {
        talk::say(&format!("the certificate's SHA-256, which browsers show: {fingerprint}"));
    }
    if !PAGE_IS_CURRENT {
        talk::say("the page is that of the last release, older than this program: `make web`, then build again");
    }
    talk::say("Ctrl-C ends it");
}
