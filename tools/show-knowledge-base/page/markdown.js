"use strict";
// Markdown to elements. Text only ever becomes text nodes, so the content of a document never becomes HTML or a
// script. Addresses are links of http, https and mailto; pictures are links, too: nothing is loaded.

const Markdown = (() => {
  const SAFE = /^(https?:|mailto:)/i;
  const MAX_DEPTH = 12;

  function link(document, href, label, title) {
    let url = null;
    try { url = new URL(href); } catch { /* relative: it leads nowhere from here */ }
    if (!url || !SAFE.test(url.protocol)) {
      const span = document.createElement("span");
      span.append(...label);
      span.title = href;
      return span;
    }
    const a = document.createElement("a");
    a.href = url.href;
    a.target = "_blank";
    a.rel = "noopener noreferrer";
    if (title) a.title = title;
    a.append(...label);
    return a;
  }

  // Where the bracket at `open` closes.
  function closing(text, open, left, right) {
    let depth = 0;
    for (let at = open; at < text.length && at < open + 4000; at++) {
      const c = text[at];
      if (c === "\\") at++;
      else if (c === left) depth++;
      else if (c === right && --depth === 0) return at;
    }
    return -1;
  }

  function target(text) {
    const match = /^\s*(?:<([^<>\n]*)>|(\S*))(?:\s+["'(]([^]*)["')])?\s*$/.exec(text);
    return match ? { href: match[1] ?? match[2] ?? "", title: match[3] } : { href: text.trim() };
  }

  function inline(document, text, depth = 0) {
    const out = [];
    let plain = "";
    const flush = () => { if (plain) { out.push(document.createTextNode(plain)); plain = ""; } };
    const push = (node) => { flush(); out.push(node); };
    const wrap = (name, inner) => {
      const element = document.createElement(name);
      element.append(...inline(document, inner, depth + 1));
      push(element);
    };
    for (let at = 0; at < text.length; at++) {
      const c = text[at];
      const rest = text.slice(at, at + 4000);
      let match;
      if (c === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) {
        plain += text[++at];
      } else if ((c === "\\" && text[at + 1] === "\n") || (c === " " && /^ {2,}\n/.test(rest))) {
        push(document.createElement("br"));
        at = text.indexOf("\n", at);
      } else if (c === "`" && (match = /^(`+)(?!`)([^]*?[^`])\1(?!`)/.exec(rest))) {
        const code = document.createElement("code");
        code.textContent = match[2].replace(/\n/g, " ").replace(/^ ([^]*\S[^]*) $/, "$1");
        push(code);
        at += match[0].length - 1;
      } else if ((c === "[" || (c === "!" && text[at + 1] === "[")) && depth < MAX_DEPTH) {
        const open = c === "!" ? at + 1 : at;
        const close = closing(text, open, "[", "]");
        const end = close > 0 && text[close + 1] === "(" ? closing(text, close + 1, "(", ")") : -1;
        if (end < 0) { plain += c; continue; }
        const label = text.slice(open + 1, close);
        const { href, title } = target(text.slice(close + 2, end));
        if (c === "!") {
          const words = document.createTextNode(`🖼 ${label || "picture"}`);
          const picture = link(document, href, [words], title ?? href);
          picture.classList.add("picture");
          push(picture);
        } else {
          push(link(document, href, inline(document, label, depth + 1), title));
        }
        at = end;
      } else if (c === "<" && (match = /^<((?:https?:\/\/|mailto:)[^<>\s]+)>/i.exec(rest))) {
        push(link(document, match[1], [document.createTextNode(match[1])]));
        at += match[0].length - 1;
      } else if (c === "<" && (match = /^<br\s*\/?>/i.exec(rest))) {
        push(document.createElement("br"));
        at += match[0].length - 1;
      } else if (c === "&" && (match = /^&(amp|lt|gt|quot|nbsp|#39|#124);/.exec(rest))) {
        plain += { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0", "#39": "'", "#124": "|" }[match[1]];
        at += match[0].length - 1;
      } else if (depth < MAX_DEPTH && (match = /^(\*\*|__)(?=\S)([^]*?\S)\1/.exec(rest)) && !inWord(text, at, match)) {
        wrap("strong", match[2]);
        at += match[0].length - 1;
      } else if (depth < MAX_DEPTH && (match = /^~~(?=\S)([^]*?\S)~~/.exec(rest))) {
        wrap("del", match[1]);
        at += match[0].length - 1;
      } else if (depth < MAX_DEPTH && (match = /^([*_])(?=[^\s*_])([^]*?[^\s*_])\1(?!\1)/.exec(rest)) && !inWord(text, at, match)) {
        wrap("em", match[2]);
        at += match[0].length - 1;
      } else {
        plain += c;
      }
    }
    flush();
    return out;
  }

  function inWord(text, at, match) {
    const word = /[\p{L}\p{N}]/u;
    return match[1][0] === "_" && (word.test(text[at - 1] ?? "") || word.test(text[at + match[0].length] ?? ""));
  }

  const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
  const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
  const ITEM = /^( *)([-+*]|\d{1,9}[.)])(?:[ \t]+(.*))?$/;
  const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
  const DELIMITER = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

  function cells(line) {
    const trimmed = line.trim().replace(/^\|/, "").replace(/(^|[^\\])\|$/, "$1");
    return trimmed.split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/\\\|/g, "|"));
  }

  function table(document, lines) {
    const element = document.createElement("table");
    const align = cells(lines[1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : ""));
    const row = (line, name) => {
      const tr = document.createElement("tr");
      cells(line).forEach((cell, n) => {
        const td = document.createElement(name);
        if (align[n]) td.className = align[n];
        td.append(...inline(document, cell));
        tr.append(td);
      });
      return tr;
    };
    const head = document.createElement("thead");
    head.append(row(lines[0], "th"));
    const body = document.createElement("tbody");
    body.append(...lines.slice(2).map((line) => row(line, "td")));
    element.append(head, body);
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.append(element);
    return scroll;
  }

  function code(document, text, language) {
    const pre = document.createElement("pre");
    pre.tabIndex = 0;
    const inner = document.createElement("code");
    inner.textContent = text;
    if (language) pre.dataset.language = language;
    pre.append(inner);
    return pre;
  }

  // The elements of `lines`, appended to `parent`.
  function blocks(document, lines, parent, depth = 0) {
    let at = 0;
    while (at < lines.length) {
      const line = lines[at];
      let match;
      if (!line.trim()) {
        at++;
      } else if ((match = FENCE.exec(line))) {
        const end = new RegExp(`^ {0,3}${match[1][0]}{${match[1].length},}\\s*$`);
        const start = ++at;
        while (at < lines.length && !end.test(lines[at])) at++;
        parent.append(code(document, lines.slice(start, at++).join("\n"), match[2].trim().split(/\s/)[0]));
      } else if ((match = HEADING.exec(line))) {
        const heading = document.createElement(`h${match[1].length}`);
        heading.append(...inline(document, (match[2] ?? "").replace(/\s*\{#[^\s}]+\}$/, "")));
        parent.append(heading);
        at++;
      } else if (RULE.test(line)) {
        parent.append(document.createElement("hr"));
        at++;
      } else if (/^ {0,3}>/.test(line) && depth < MAX_DEPTH) {
        const inner = [];
        while (at < lines.length && lines[at].trim() && (/^ {0,3}>/.test(lines[at]) || inner.length)) {
          inner.push(lines[at++].replace(/^ {0,3}> ?/, ""));
        }
        const quote = document.createElement("blockquote");
        blocks(document, inner, quote, depth + 1);
        parent.append(quote);
      } else if ((match = ITEM.exec(line)) && match[1].length < 4 && depth < MAX_DEPTH) {
        at = list(document, lines, at, parent, depth);
      } else if (line.includes("|") && DELIMITER.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
        const start = at;
        at += 2;
        while (at < lines.length && lines[at].trim() && lines[at].includes("|")) at++;
        parent.append(table(document, lines.slice(start, at)));
      } else if (/^( {4}|\t)/.test(line)) {
        const inner = [];
        while (at < lines.length && (/^( {4}|\t)/.test(lines[at]) || !lines[at].trim())) {
          inner.push(lines[at++].replace(/^( {4}|\t)/, ""));
        }
        parent.append(code(document, inner.join("\n").trimEnd()));
      } else {
        const start = at++;
        while (at < lines.length && lines[at].trim() && !FENCE.test(lines[at]) && !HEADING.test(lines[at]) &&
          !/^ {0,3}>/.test(lines[at]) && !ITEM.test(lines[at])) at++;
        const paragraph = document.createElement("p");
        paragraph.append(...inline(document, lines.slice(start, at).map((one) => one.trimStart()).join("\n")));
        parent.append(paragraph);
      }
    }
  }

  function list(document, lines, at, parent, depth) {
    const first = ITEM.exec(lines[at]);
    const ordered = /\d/.test(first[2]);
    const element = document.createElement(ordered ? "ol" : "ul");
    if (ordered) element.start = parseInt(first[2], 10);
    while (at < lines.length) {
      const match = ITEM.exec(lines[at]);
      if (!match || /\d/.test(match[2]) !== ordered || match[1].length > first[1].length + 3 || RULE.test(lines[at])) break;
      const indent = match[1].length + match[2].length + 1;
      let text = match[3] ?? "";
      const item = document.createElement("li");
      const task = /^\[([ xX])\][ \t]+/.exec(text);
      if (task) {
        item.append(task[1] === " " ? "☐ " : "☑ ");
        text = text.slice(task[0].length);
      }
      const inner = [text];
      at++;
      while (at < lines.length) {
        const next = lines[at];
        const leads = next.length - next.trimStart().length;
        if (!next.trim()) {
          const after = lines.slice(at, at + 3).find((one) => one.trim()) ?? "";
          if (after.length - after.trimStart().length < indent) break;
          inner.push("");
        } else if (leads >= indent) {
          inner.push(next.slice(indent));
        } else if (leads > match[1].length && ITEM.test(next)) {
          inner.push(next.slice(leads));
        } else if (!ITEM.test(next) && !HEADING.test(next) && !FENCE.test(next) && inner.at(-1).trim()) {
          inner.push(next.trimStart());
        } else {
          break;
        }
        at++;
      }
      blocks(document, inner, item, depth + 1);
      // A tight item has no paragraph around its text.
      const only = item.querySelector(":scope > p");
      if (only && !inner.includes("")) only.replaceWith(...only.childNodes);
      element.append(item);
      while (at < lines.length && !lines[at].trim() && ITEM.test(lines[at + 1] ?? "")) at++;
    }
    parent.append(element);
    return at;
  }

  return { render: (document, text, parent) => blocks(document, text.replace(/\r\n?/g, "\n").split("\n"), parent) };
})();
