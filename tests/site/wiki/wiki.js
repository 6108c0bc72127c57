'use strict';

// The cookie banner: shown until it was answered.
const banner = document.getElementById('cookie-banner');
banner.hidden = /(?:^|; )consent=/.test(document.cookie);
banner.addEventListener('click', event => {
  const answer = event.target.dataset.consent;
  if (answer) {
    document.cookie = `consent=${answer}; path=/wiki/; max-age=31536000; samesite=lax`;
    banner.hidden = true;
  }
});

// Anchors beside headings, as documentation generators add them.
for (const heading of document.querySelectorAll('h2[id], h3[id]')) {
  const anchor = document.createElement('a');
  anchor.className = 'anchor';
  anchor.href = `#${heading.id}`;
  anchor.setAttribute('aria-label', 'Link to this section');
  anchor.textContent = '#';
  heading.append(anchor);
}

// A button to copy each block of code.
for (const block of document.querySelectorAll('pre > code')) {
  const frame = document.createElement('div');
  frame.className = 'code';
  block.parentElement.replaceWith(frame);
  const pre = document.createElement('pre');
  pre.append(block);
  const copy = document.createElement('button');
  copy.textContent = 'Copy';
  copy.addEventListener('click', () => navigator.clipboard.writeText(block.textContent));
  frame.append(pre, copy);
}

// The list of stations is fetched, and rendered when it is there.
const stations = document.getElementById('stations');
if (stations) {
  fetch('/wiki/stations.json').then(answer => answer.json()).then(list => {
    const row = station => `<tr><td><a href="/page/${encodeURIComponent(station.name)}">${station.name}</a></td>
      <td>${station.coast}</td><td style="text-align: right">${station.range.toFixed(2)}</td><td>${station.since}</td></tr>`;
    stations.innerHTML = `<p>${list.stations.length} stations, as of ${list.updated}.</p>
      <table><thead><tr><th>Station</th><th>Coast</th><th style="text-align: right">Mean range (m)</th><th>Since</th></tr></thead>
      <tbody>${list.stations.map(row).join('')}</tbody></table>`;
  });
}
