#!/bin/sh
# Installs RAGMaker __VERSION__: downloads the archive for this machine, verifies its SHA-256 and copies it to PREFIX.
#
#   sh install.sh                      # to ~/.local
#   PREFIX=/usr/local sh install.sh
#
# RAGMAKER_DOWNLOADS names another folder with the archives, such as a mirror.
set -eu

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# A download that was cut installs nothing: the last line calls this.
main() {
    version=__VERSION__
    downloads=${RAGMAKER_DOWNLOADS:-__REPOSITORY__/releases/download/v$version}
    prefix=${PREFIX:-$HOME/.local}
    # The folder changes below.
    case $prefix in
        /*) ;;
        *) prefix=$PWD/$prefix ;;
    esac

    case $(uname -s)-$(uname -m) in
        Linux-x86_64) target=x86_64-unknown-linux-musl ;;
        Darwin-arm64) target=aarch64-apple-darwin ;;
        *) fail "there is no archive for $(uname -s) on $(uname -m); build it with cargo install" ;;
    esac

    folder=ragmaker-$version-$target
    archive=$folder.tar.gz
    temporary=$(mktemp -d)
    # The executable, before it has its name.
    new=$prefix/bin/.ragmaker.$$
    trap 'rm -rf "$temporary" "$new"' EXIT
    trap 'exit 1' HUP INT TERM

    for file in "$archive" "$archive.sha256"; do
        if has curl; then
            curl -fsSL -o "$temporary/$file" "$downloads/$file" || fail "cannot download $downloads/$file"
        elif has wget; then
            wget -q -O "$temporary/$file" "$downloads/$file" || fail "cannot download $downloads/$file"
        else
            fail "curl or wget is needed"
        fi
    done

    # The checksum file must be about this archive: another name in it would verify nothing.
    [ "$(sed 's/^[0-9a-f]*  //' "$temporary/$archive.sha256")" = "$archive" ] || fail "$archive.sha256 is not a checksum of $archive"
    cd "$temporary"
    if has sha256sum; then
        sha256sum -c "$archive.sha256" >/dev/null 2>&1 || fail "the checksum of $archive is wrong; nothing was installed"
    elif has shasum; then
        shasum -a 256 -c "$archive.sha256" >/dev/null 2>&1 || fail "the checksum of $archive is wrong; nothing was installed"
    else
        fail "sha256sum or shasum is needed"
    fi

    tar -xzf "$archive"
    # The executable comes last and gets its name when it is complete: after an interruption the old one is there. A running
    # executable cannot be overwritten, and a link would be followed.
    mv "$folder/bin/ragmaker" executable
    mkdir -p "$prefix/bin"
    cp -R "$folder/." "$prefix/"
    cp executable "$new"
    mv -f "$new" "$prefix/bin/ragmaker"
    echo "RAGMaker $version is installed in $prefix."
    case :$PATH: in
        *:"$prefix/bin":*) ;;
        *) echo "Add $prefix/bin to PATH." ;;
    esac
    echo "Next: ragmaker setup"
}

main
