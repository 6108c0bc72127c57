//! The effects of programs, in words for the person who decides.

/// Effects, and the programs that have them.
const KINDS: &[(&str, &[&str])] = &[
    ("it deletes files", &["rm", "rmdir", "unlink", "shred", "trash", "srm"]),
    (
        "it changes files",
        &["cp", "mv", "ln", "tee", "touch", "mkdir", "truncate", "install", "patch", "dd", "rsync", "split"],
    ),
    ("it changes permissions or owners", &["chmod", "chown", "chgrp", "chattr", "setfacl"]),
    (
        "it reaches the network",
        &[
            "curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "telnet", "ftp", "ping", "dig",
            "nslookup", "host",
        ],
    ),
    ("it runs as another user", &["sudo", "doas", "su", "runuser", "pkexec"]),
    (
        "it runs a program that is given as text or in a file",
        &[
            "sh",
            "bash",
            "zsh",
            "dash",
            "ksh",
            "fish",
            "python",
            "python3",
            "perl",
            "ruby",
            "node",
            "deno",
            "bun",
            "php",
            "lua",
            "awk",
            "gawk",
            "eval",
            "source",
            ".",
            "xargs",
            "osascript",
            "pwsh",
        ],
    ),
    (
        "it runs or installs what the project or its packages bring",
        &[
            "make", "cargo", "npm", "npx", "yarn", "pnpm", "pip", "pip3", "pipx", "uv", "gem", "go", "mvn", "gradle",
            "cmake", "apt", "apt-get", "dnf", "yum", "brew", "pacman", "apk", "composer", "just",
        ],
    ),
    (
        "it reaches the whole machine",
        &["docker", "podman", "kubectl", "systemctl", "mount", "umount", "crontab", "at", "iptables"],
    ),
    ("it ends processes", &["kill", "pkill", "killall", "xkill"]),
    (
        "it changes what words mean or what runs later",
        &["alias", "export", "trap", "set", "unset", "exec", "enable", "shopt"],
    ),
];

/// The effects of the program `name`.
pub(super) fn of(name: &str) -> impl Iterator<Item = &'static str> {
    KINDS.iter().filter(move |(_, names)| names.contains(&name)).map(|(does, _)| *does)
}
