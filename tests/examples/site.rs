//! Serves the site until it is interrupted, to look at it in a browser.

use ragmaker_tests::site::Site;

fn main() {
    let site = Site::start();
    println!("{}", site.url("/"));
    loop {
        std::thread::park();
    }
}
