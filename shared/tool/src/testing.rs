//! A small tool for the tests of this crate.

use argh::{ArgsInfo, FromArgs};
use serde::{Deserialize, Serialize};

use crate::{Annotations, Bounded, Code, Error, Invocation, JsonSchema, Tool, choice};

pub(crate) const NO_FRUIT: Code = Code::new("NO_FRUIT", "Wait for autumn.");

/// Pick fruit. For seeds use `ragmaker-plant`; with `--no-peeled`, leaves the peel on.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug, PartialEq)]
#[argh(help_triggers("-h", "--help"))]
pub(crate) struct Pick {
    /// where the fruit goes
    #[argh(option)]
    pub(crate) basket: String,
    /// how many
    #[argh(option)]
    pub(crate) count: Option<Bounded<1, 8>>,
    /// only ripe ones
    #[argh(switch)]
    pub(crate) ripe: bool,
    /// which kind
    #[argh(option, default = "Fruit::Pear", from_str_fn(choice))]
    pub(crate) fruit: Fruit,
    /// leave the peel on
    #[argh(switch)]
    pub(crate) no_peeled: bool,
    /// labels
    #[argh(option)]
    pub(crate) tag: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fruit {
    /// A pear.
    Pear,
    /// A red apple.
    RedApple,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Picked {
    /// The picked fruit.
    picked: Vec<String>,
    /// The start of the next page.
    next: Option<u64>,
}

/// Plant seeds.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub(crate) struct Plant {
    /// what is planted
    #[argh(option)]
    pub(crate) seed: String,
    /// where it is planted
    #[argh(option)]
    pub(crate) bed_row: Option<String>,
    /// who plants it
    #[argh(option)]
    pub(crate) by: String,
}

impl Tool for Plant {
    type Answer = Picked;
    const NAME: &'static str = "ragmaker-plant";
    const VERSION: &'static str = "0.1.0";
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const OPERANDS: &'static [&'static str] = &["--seed", "--bed-row"];
    const ERRORS: &'static [&'static [Code]] = &[];

    fn run(self, _: &Invocation) -> Result<Picked, Error> {
        Ok(Picked { picked: vec![], next: None })
    }
}

impl Tool for Pick {
    type Answer = Picked;
    const NAME: &'static str = "ragmaker-pick";
    const VERSION: &'static str = "0.1.0";
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: false, idempotent_hint: false, open_world_hint: false };
    const ERRORS: &'static [&'static [Code]] = &[&[NO_FRUIT]];
    const HOST_OPTIONS: &'static [&'static str] = crate::host::FILES;

    fn run(self, _: &Invocation) -> Result<Picked, Error> {
        Ok(Picked { picked: vec![self.basket], next: None })
    }
}
