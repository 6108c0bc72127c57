//! Links the executable for a quick start.

fn main() {
    ragmaker_link::for_a_quick_start();
}
