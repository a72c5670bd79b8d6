// The console's script in the browser: local times, refresh of the live part, copy buttons, `/` for the search, one
// send per form.
// The console works without this script.
'use strict';

const LONGEST_WAIT_MS = 120_000;

/**
 * Refreshes the live part of the page: one request at a time, none in a hidden tab, and longer pauses after each
 * failure.
 */
function keepFresh(part) {
  const everyMs = Number(part.dataset.live) * 1000;
  let tag = '';
  let failures = 0;
  let timer = 0;
  let paused = false;
  let asking = false;

  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  const note = document.createElement('span');
  note.className = 'dim';
  const row = document.createElement('p');
  row.className = 'live-row';
  row.append(button, note);
  part.before(row);

  const say = (text) => {
    button.textContent = paused ? 'Resume updates' : 'Pause updates';
    note.textContent = text;
  };
  const plan = () => {
    clearTimeout(timer);
    if (paused || document.hidden) return;
    timer = setTimeout(ask, Math.min(everyMs * 2 ** failures, LONGEST_WAIT_MS));
  };

  async function ask() {
    if (asking) return;
    asking = true;
    try {
      const answer = await fetch(location.href, {
        headers: { 'X-Console-Part': 'live', 'If-None-Match': tag },
        cache: 'no-store',
        signal: AbortSignal.timeout(10_000),
      });
      if (answer.status === 401) {
        paused = true;
        button.remove();
        note.replaceChildren('Your session has ended. ', link('/console/login', 'Log in again'));
        return;
      }
      if (answer.status !== 304 && !answer.ok) throw new Error(String(answer.status));
      if (answer.status === 200) {
        tag = answer.headers.get('ETag') ?? '';
        replace(part, await answer.text());
      }
      failures = 0;
      say(`Updated ${clockTime(new Date())}`);
    } catch {
      failures += 1;
      say('No answer: trying again.');
    } finally {
      asking = false;
      plan();
    }
  }

  button.addEventListener('click', () => {
    paused = !paused;
    say(paused ? 'Paused' : `Every ${everyMs / 1000} seconds`);
    if (paused) clearTimeout(timer);
    else void ask();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) clearTimeout(timer);
    else if (!paused) void ask();
  });
  say(`Every ${everyMs / 1000} seconds`);
  plan();
}

function link(path, text) {
  const a = document.createElement('a');
  a.href = path;
  a.textContent = text;
  return a;
}

/** Replaces the content of the live part. Open sections stay open, and the keyboard focus stays in place. */
function replace(part, text) {
  if (part.contains(getSelection()?.anchorNode ?? null) && !getSelection()?.isCollapsed) return;
  const open = [...part.querySelectorAll('details[open]')].map((d) => d.id);
  const at = [...part.querySelectorAll('a, button, summary, input')].indexOf(document.activeElement);
  const page = new DOMParser().parseFromString(text, 'text/html');
  part.replaceChildren(...page.body.childNodes);
  for (const id of open) if (id) part.querySelector(`#${CSS.escape(id)}`)?.setAttribute('open', '');
  offerCopies(part);
  showTimes(part);
  if (at >= 0) part.querySelectorAll('a, button, summary, input')[at]?.focus({ preventScroll: true });
}

function offerCopies(within) {
  if (!navigator.clipboard) return;
  for (const code of within.querySelectorAll('code[data-copy]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    const behind = code.dataset.copy === 'id';
    const said = behind ? 'Copy id' : 'Copy';
    if (behind) code.classList.add('unseen');
    button.classList.toggle('stays', behind);
    button.title = code.textContent;
    button.textContent = said;
    button.setAttribute('aria-label', `${said} ${code.textContent}`);
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = said), 2_000);
    });
    code.after(button);
  }
}

const TIMES = 'crossbill.times';
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * True if the reader chose UTC. The browser stores the choice. If the browser refuses, the choice lasts for one page.
 */
let inUtc = false;
try {
  inUtc = localStorage.getItem(TIMES) === 'utc';
} catch {
  // The browser stores nothing, so the page begins with local time.
}

const clockTime = (at) => {
  const shown = at.toLocaleTimeString('en-GB', inUtc ? { timeZone: 'UTC' } : {});
  return inUtc ? `${shown} UTC` : shown;
};

/** Shows times in the reader's zone or in UTC. The server sends UTC, and the tooltip always shows UTC. */
function showTimes(within) {
  const zone = inUtc ? { timeZone: 'UTC' } : {};
  const form = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', ...zone };
  for (const time of within.querySelectorAll('time[title]')) {
    const shown = new Date(time.dateTime).toLocaleString('en-GB', form).replace('Sept', 'Sep');
    time.textContent = inUtc ? `${shown} UTC` : shown;
  }
}

for (const button of document.querySelectorAll('[data-times]')) {
  const say = () => {
    button.textContent = inUtc ? 'UTC' : 'Local time';
    button.title = inUtc ? `Show times in ${ownZone}` : `Times are in ${ownZone}. Show them in UTC`;
    // The name begins with the visible words, so a person with voice control can say them (WCAG 2.1, 2.5.3).
    button.setAttribute('aria-label', inUtc ? 'UTC times: show local time' : 'Local time: show UTC');
  };
  button.addEventListener('click', () => {
    inUtc = !inUtc;
    try {
      localStorage.setItem(TIMES, inUtc ? 'utc' : 'local');
    } catch {
      // The browser stores nothing, so the choice lasts for one page.
    }
    say();
    showTimes(document);
  });
  say();
  button.hidden = false;
}

for (const part of document.querySelectorAll('[data-live]')) keepFresh(part);
offerCopies(document);
showTimes(document);

// The key `/` moves the focus to the search, except from a text field.
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, textarea, select, [contenteditable]')) return;
  const field = document.getElementById('find');
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});

// Ignores a second click while the browser sends the form. The server also carries out a form only once; this just
// saves a page load.
document.addEventListener('submit', (event) => {
  if (event.target.method !== 'post') return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = 'yes';
});
// A page restored from the browser's memory may send its form again.
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});
