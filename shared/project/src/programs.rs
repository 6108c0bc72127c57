//! The executables of browsers and their drivers: from an environment variable, as `ragmaker setup` downloaded them, on
//! PATH, or in the usual places.

use std::{
    env,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use ragmaker_tool::{Code, Error};

use crate::{chrome_for_testing, variables};

/// The browser or its driver is not on this machine.
pub const BROWSER_NOT_FOUND: Code = Code::new(
    "BROWSER_NOT_FOUND",
    "Run ragmaker setup, or install Chromium and ChromeDriver (Debian: apt-get install chromium chromium-driver), or name them with RAGMAKER_CHROMIUM and RAGMAKER_CHROMEDRIVER.",
);

/// Why the ChromeDriver of the version `driver` does not drive the Chromium of the version `browser`; `None` if it does.
/// It drives only the browser of its own major version.
pub fn mismatch(browser: &str, driver: &str) -> Option<String> {
    let major = |version: &str| version.split('.').next().unwrap_or_default().to_owned();
    let (browser, driver) = (major(browser), major(driver));
    (browser != driver).then(|| format!("ChromeDriver {driver} does not drive Chromium {browser}"))
}

/// There is no screen that a window could be shown on, or no program that shows one.
pub const NO_DISPLAY: Code =
    Code::new("NO_DISPLAY", "Run it on a machine with a display (DISPLAY or WAYLAND_DISPLAY), or without a window.");

/// The time limit for a program to print its version.
const PRINTING: Duration = Duration::from_secs(3);

/// Whether a window can be shown. Only X11 and Wayland say so beforehand.
pub fn has_display() -> bool {
    let named = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos"))) || named("DISPLAY") || named("WAYLAND_DISPLAY")
}

/// A program that the browser tools run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Chromium, or Google Chrome.
    Chromium,
    /// ChromeDriver, of the browser's own version.
    ChromeDriver,
    /// Firefox.
    Firefox,
    /// geckodriver, which drives Firefox.
    GeckoDriver,
}

impl Program {
    /// The name of the program, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chromium => "Chromium",
            Self::ChromeDriver => "ChromeDriver",
            Self::Firefox => "Firefox",
            Self::GeckoDriver => "geckodriver",
        }
    }

    /// The environment variable that names its executable.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Chromium => variables::CHROMIUM,
            Self::ChromeDriver => variables::CHROMEDRIVER,
            Self::Firefox => variables::FIREFOX,
            Self::GeckoDriver => variables::GECKODRIVER,
        }
    }

    /// Its names on PATH, the likeliest first.
    fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => {
                &["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "Chromium"]
            }
            Self::ChromeDriver => &["chromedriver", "chromium.chromedriver"],
            Self::Firefox => &["firefox", "firefox-esr"],
            Self::GeckoDriver => &["geckodriver", "firefox.geckodriver"],
        }
    }

    /// The usual places outside PATH on Linux, macOS and Windows.
    fn places(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &[
                "/usr/bin/chromium",
                "/usr/lib/chromium/chromium",
                "/usr/lib64/chromium-browser/chromium-browser",
                "/opt/google/chrome/chrome",
                "/snap/bin/chromium",
                "/Applications/Chromium.app/Contents/MacOS/Chromium",
                "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
                r"C:\Program Files\Chromium\Application\chrome.exe",
                r"C:\Program Files\Google\Chrome\Application\chrome.exe",
                r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
            ],
            Self::ChromeDriver => &[
                "/usr/bin/chromedriver",
                "/usr/lib/chromium/chromedriver",
                "/usr/lib/chromium-browser/chromedriver",
                "/snap/bin/chromium.chromedriver",
                "/opt/homebrew/bin/chromedriver",
                "/usr/local/bin/chromedriver",
                r"C:\Program Files\ChromeDriver\chromedriver.exe",
            ],
            Self::Firefox => &[
                "/usr/bin/firefox",
                "/usr/lib/firefox/firefox",
                "/usr/lib/firefox-esr/firefox-esr",
                "/snap/bin/firefox",
                "/Applications/Firefox.app/Contents/MacOS/firefox",
                r"C:\Program Files\Mozilla Firefox\firefox.exe",
            ],
            Self::GeckoDriver => &[
                "/usr/bin/geckodriver",
                "/usr/local/bin/geckodriver",
                "/snap/bin/geckodriver",
                "/opt/homebrew/bin/geckodriver",
            ],
        }
    }

    /// The path of its executable in the archives of Chrome for Testing for `platform`; `None` for other browsers.
    pub fn in_chrome_for_testing(self, platform: &str) -> Option<String> {
        let suffix = if platform.starts_with("win") { ".exe" } else { "" };
        match self {
            Self::Chromium if platform.starts_with("mac") => {
                const APP: &str = "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing";
                Some(format!("chrome-{platform}/{APP}"))
            }
            Self::Chromium => Some(format!("chrome-{platform}/chrome{suffix}")),
            Self::ChromeDriver => Some(format!("chromedriver-{platform}/chromedriver{suffix}")),
            Self::Firefox | Self::GeckoDriver => None,
        }
    }

    /// The path at which `ragmaker setup` downloads it.
    fn downloaded(self) -> Option<PathBuf> {
        // One of the two that a person names needs the other one of its own version.
        if Self::Chromium.named().or(Self::ChromeDriver.named()).is_some() {
            return None;
        }
        let executable = self.in_chrome_for_testing(chrome_for_testing::platform()?)?;
        chrome_for_testing::folder().map(|folder| folder.join(executable))
    }

    /// The path in its environment variable.
    pub fn named(self) -> Option<PathBuf> {
        env::var_os(self.variable()).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// The path of its executable.
    ///
    /// # Errors
    /// [`BROWSER_NOT_FOUND`] where there is none.
    pub fn find(self) -> Result<PathBuf, Error> {
        if let Some(path) = self.named() {
            return if is_executable(&path) {
                Ok(path)
            } else {
                Err(BROWSER_NOT_FOUND
                    .error(format!("{} names no executable: {}", self.variable(), path.display()))
                    .remedy(format!("Set {} to the path of {}, or unset it.", self.variable(), self.name()))
                    .detail("missing", self.name()))
            };
        }
        // A downloaded browser has a driver of its own version, which another driver on PATH need not be.
        let downloaded = self.downloaded().filter(|path| is_executable(path));
        let installed = || self.places().iter().map(PathBuf::from).find(|path| is_executable(path));
        let on_path = || self.commands().iter().find_map(|command| on_path(command));
        let found = downloaded.or_else(on_path).or_else(installed);
        found.ok_or_else(|| self.missing())
    }

    /// The version that `path --version` prints, such as `156.0.8078.79`; `None` if it prints none within three
    /// seconds.
    pub fn version(self, path: &Path) -> Option<String> {
        version(path, PRINTING)
    }

    /// The advice for its installation.
    fn installation(self) -> &'static str {
        match (self, env::consts::OS) {
            (Self::Firefox, "macos") => "Install it: brew install --cask firefox.",
            (Self::Firefox, "linux") => {
                "Install it: apt-get install firefox-esr (Debian), dnf install firefox (Fedora), pacman -S firefox (Arch)."
            }
            (Self::Firefox, _) => "Install it from https://www.mozilla.org/firefox.",
            (Self::GeckoDriver, "macos") => "Install it: brew install geckodriver.",
            (Self::GeckoDriver, _) => {
                "Install it: cargo install geckodriver, or a file of https://github.com/mozilla/geckodriver/releases on PATH."
            }
            (_, "macos") => "Run ragmaker setup, or install both: brew install --cask chromium chromedriver.",
            (_, "windows") => {
                "Run ragmaker setup, or install Google Chrome and the ChromeDriver of the same version, and put it on PATH."
            }
            _ => {
                "Run ragmaker setup, or install both: apt-get install chromium chromium-driver (Debian), dnf install chromium chromedriver (Fedora), pacman -S chromium (Arch)."
            }
        }
    }

    /// The error that says what to install.
    fn missing(self) -> Error {
        BROWSER_NOT_FOUND
            .error(format!("{} was found neither on PATH nor where it is usually installed", self.name()))
            .remedy(format!("{} Or name the executable with {}.", self.installation(), self.variable()))
            .detail("missing", self.name())
    }
}

/// The first word of what `program --version` prints that is a number.
fn version(program: &Path, time: Duration) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let deadline = Instant::now() + time;
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    // A process that the program left behind can hold the pipe: the thread ends with it.
    thread::spawn(move || {
        let mut printed = vec![];
        let mut stdout = stdout.take(4096);
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stdout.read(&mut buffer) {
            printed.extend(&buffer[..read]);
            if printed.contains(&b'\n') {
                break;
            }
        }
        sender.send(printed)
    });
    let printed = receiver.recv_timeout(time).unwrap_or_default();
    let has_succeeded = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            _ => break false,
        }
    };
    if !has_succeeded {
        // It may have ended meanwhile.
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let printed = String::from_utf8_lossy(&printed);
    printed.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned)
}

/// The executable of `command` on PATH, if there is one.
pub fn on_path(command: &str) -> Option<PathBuf> {
    let file = format!("{command}{}", env::consts::EXE_SUFFIX);
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(&file)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_reported_with_its_package() {
        for program in [Program::Firefox, Program::GeckoDriver] {
            let error = serde_json::to_value(program.missing()).unwrap();
            let remedy = error["remediation_suggestion"].as_str().unwrap();
            assert!(remedy.contains("nstall") && remedy.contains(program.variable()), "{remedy}");
        }
        for program in [Program::Chromium, Program::ChromeDriver] {
            let error = serde_json::to_value(program.missing()).unwrap();
            let remedy = error["remediation_suggestion"].as_str().unwrap();
            assert!(remedy.contains("nstall") && remedy.contains(program.variable()), "{remedy}");
            assert_eq!(error["details"]["missing"], program.name());
            #[cfg(target_os = "linux")]
            assert!(remedy.contains("apt-get install chromium chromium-driver"), "{remedy}");
        }
    }

    #[test]
    fn chrome_for_testing_has_an_executable_for_each_system() {
        let path = |program: Program, platform| program.in_chrome_for_testing(platform).unwrap();
        assert_eq!(path(Program::Chromium, "linux64"), "chrome-linux64/chrome");
        assert_eq!(path(Program::ChromeDriver, "mac-arm64"), "chromedriver-mac-arm64/chromedriver");
        assert_eq!(path(Program::Chromium, "win64"), "chrome-win64/chrome.exe");
        assert!(path(Program::Chromium, "mac-x64").starts_with("chrome-mac-x64/Google Chrome for Testing.app/"));
        assert_eq!(Program::Firefox.in_chrome_for_testing("linux64"), None);
    }

    #[test]
    fn a_driver_drives_its_own_version() {
        assert_eq!(mismatch("150.0.1", "150.0.7"), None);
        let mismatch = mismatch("150.0.1", "149.0.1").unwrap();
        assert!(mismatch.contains("Chromium 150") && mismatch.contains("ChromeDriver 149"), "{mismatch}");
    }

    #[test]
    fn only_executables_count() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_executable(folder.path()));
        let file = folder.path().join("chromium");
        std::fs::write(&file, "").unwrap();
        assert_eq!(is_executable(&file), cfg!(windows));
        assert!(is_executable(&env::current_exe().unwrap()));
    }

    #[cfg(unix)]
    #[test]
    fn a_version_is_read_in_bounded_time() {
        let folder = tempfile::tempdir().unwrap();
        let version_of = |lines: &str, time| version(&ragmaker_testkit::script(folder.path(), "program", lines), time);
        assert_eq!(version_of("echo Chromium 150.0.1 built on x", PRINTING).as_deref(), Some("150.0.1"));
        assert_eq!(version_of("echo 1; exit 1", PRINTING), None);
        assert_eq!(version_of("exec sleep 60", Duration::from_millis(100)), None);
        // A process that is left behind holds the pipe.
        assert_eq!(version_of("echo 7.1; sleep 60 &", PRINTING).as_deref(), Some("7.1"));
    }
}
