//! Bot challenges, and pages that only look like one.
//!
//! They have the status, the headers and the structure that the vendors document or are known for.
//! Nothing in them talks to a vendor: the site's own policy keeps their scripts and frames out.

use super::{html, http::Response, request::PageRequest, server::Reply};

/// The pages, as files in `tests/site/challenge/`.
macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../site/challenge/", $name))
    };
}

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let response = match (ask.topic, &ask.rest()[..]) {
        ("challenge", [vendor]) => challenge(vendor, ask)?,
        ("innocent", ["article"]) => Response::html(file!("innocent-article.html")),
        ("innocent", ["badge"]) => Response::html(file!("innocent-badge.html")),
        ("innocent", ["turnstile"]) => Response::html(file!("innocent-turnstile.html")),
        ("innocent", ["comments"]) => Response::html(file!("innocent-comments.html")),
        ("innocent", ["folded"]) => html::page("A note", FOLDED),
        ("innocent", ["tool"]) => html::page("A tool", TOOL),
        ("innocent", ["forbidden"]) => {
            html::text_page("Members only", "<p>Ask the keeper for an account.</p>").status(403)
        }
        ("cdn-cgi", ["challenge-platform", .., "clearing.js"]) => Response::new("text/javascript", clearing(2500)),
        ("cdn-cgi", ["challenge-platform", .., "slow.js"]) => Response::new("text/javascript", clearing(9000)),
        ("cdn-cgi", ["challenge-platform", .., "chl_page", "v1"]) => Response::new("text/javascript", WIDGET),
        ("cdn-cgi", ["challenge-platform", .., "scripts", "jsd", "main.js"]) => Response::new("text/javascript", ""),
        _ => return None,
    };
    Some(response.into())
}

fn challenge(vendor: &str, ask: &PageRequest<'_>) -> Option<Response> {
    let response = match vendor {
        "cloudflare" => cloudflare("chl_page/v1"),
        "cloudflare-clearing" | "cloudflare-slow" if ask.request.cookie("cf_clearance").is_some() => {
            html::article("Behind the challenge")
        }
        "cloudflare-clearing" => cloudflare("clearing.js"),
        "cloudflare-slow" => cloudflare("slow.js"),
        // A site may give it any status.
        "cloudflare-block" => Response::html(file!("cloudflare-block.html")).header("Server", "cloudflare"),
        "cloudflare-block-403" | "cloudflare-block-503" => {
            let status = if vendor.ends_with("403") { 403 } else { 503 };
            Response::html(file!("cloudflare-block.html")).status(status).header("Server", "cloudflare")
        }
        "hcaptcha" => Response::html(file!("hcaptcha.html")).status(403),
        "recaptcha" => Response::html(file!("recaptcha.html")).status(429),
        "datadome" => Response::html(file!("datadome.html"))
            .status(403)
            .header("X-DataDome", "protected")
            .header("X-DD-B", "1")
            .header("Set-Cookie", "datadome=qV7k~0s1fGpBlV3nTz; Max-Age=31536000; Path=/; SameSite=Lax"),
        "perimeterx" => Response::html(file!("perimeterx.html")).status(403),
        "akamai" => Response::html(file!("akamai.html")).status(403).header("Server", "AkamaiGHost"),
        "akamai-crypto" => Response::html(file!("akamai-crypto.html"))
            .status(428)
            .header("Server", "AkamaiGHost")
            .header("Set-Cookie", "sec_cpt=5B0C~1~YAAQ; Max-Age=3600; Path=/"),
        "aws-waf" => Response::html(file!("aws-waf.html")).status(202).header("x-amzn-waf-action", "challenge"),
        "aws-waf-captcha" => {
            Response::html(file!("aws-waf-captcha.html")).status(405).header("x-amzn-waf-action", "captcha")
        }
        // With status 200.
        "anubis" => Response::html(file!("anubis.html")),
        "amazon" => Response::html(file!("amazon.html")),
        "vercel" => Response::html(file!("vercel.html")),
        "ddos-guard" => Response::html(file!("ddos-guard.html")),
        _ => return None,
    };
    Some(response)
}

fn cloudflare(script: &str) -> Response {
    Response::html(file!("cloudflare.html").replace("{{script}}", script))
        .status(403)
        .header("Server", "cloudflare")
        .header("CF-Ray", "8f2c41d0aa6be5d3-NRT")
        .header("CF-Mitigated", "challenge")
}

/// The text that the vendor's script shows while it checks the browser.
const WIDGET: &str = r#"document.querySelector('.main-content').innerHTML = `
    <h1 class="zone-name-title h1">${location.hostname}</h1>
    <p id="challenge-running" class="h2">Verifying you are human. This may take a few seconds.</p>
    <div id="challenge-stage"><input type="hidden" name="cf-turnstile-response"></div>
    <div class="core-msg spacer">${location.hostname} needs to review the security of your connection before proceeding.</div>`;
"#;

/// The same in short, and it is content with what it sees after `milliseconds`.
fn clearing(milliseconds: u32) -> String {
    format!(
        r#"document.querySelector('.main-content').innerHTML = '<p id="challenge-running">Checking your browser…</p>';
setTimeout(() => {{
  document.cookie = 'cf_clearance=cleared; path=/; max-age=1800';
  location.reload();
}}, {milliseconds});
"#
    )
}

const FOLDED: &str = r#"<nav><a href="/">All pages</a></nav>
<article><h1>A note</h1><p>The ferry does not run on the first Monday of the month: the keeper counts the boats.</p></article>
<div style="display: none"><form><textarea name="words"></textarea><div class="g-recaptcha" data-sitekey="none"></div></form></div>
<script src="/cdn-cgi/challenge-platform/h/b/scripts/jsd/main.js" async></script>"#;

const TOOL: &str = r#"<nav><a href="/">All pages</a></nav>
<main><h1>A tool</h1><p>Write here, and read below how high the water will be.</p><div contenteditable>12 May</div></main>
<div class="cf-turnstile" data-sitekey="none" data-appearance="interaction-only"></div>"#;
