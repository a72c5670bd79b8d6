// All that the console does in the browser: it keeps live parts fresh, copies ids, and sends a form once. Everything works without it.
'use strict';

const LONGEST_WAIT_MS = 120_000;

/** Asks again for the live part, one question at a time, never while nobody looks, ever more slowly while there is no answer. */
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
      say(`Updated ${new Date().toISOString().slice(11, 19)} UTC`);
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

/** New content in the old place; what was open stays open, and the keyboard stays where it was. */
function replace(part, text) {
  if (part.contains(getSelection()?.anchorNode ?? null) && !getSelection()?.isCollapsed) return;
  const open = [...part.querySelectorAll('details[open]')].map((d) => d.id);
  const at = [...part.querySelectorAll('a, button, summary, input')].indexOf(document.activeElement);
  const page = new DOMParser().parseFromString(text, 'text/html');
  part.replaceChildren(...page.body.childNodes);
  for (const id of open) if (id) part.querySelector(`#${CSS.escape(id)}`)?.setAttribute('open', '');
  offerCopies(part);
  if (at >= 0) part.querySelectorAll('a, button, summary, input')[at]?.focus({ preventScroll: true });
}

function offerCopies(within) {
  if (!navigator.clipboard) return;
  for (const code of within.querySelectorAll('code[data-copy]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.setAttribute('aria-label', `Copy ${code.textContent}`);
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 2_000);
    });
    code.after(button);
  }
}

for (const part of document.querySelectorAll('[data-live]')) keepFresh(part);
offerCopies(document);

// A second click on the way changes nothing on the server either; here it only keeps the eye quiet.
document.addEventListener('submit', (event) => {
  if (event.target.method !== 'post') return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = 'yes';
});
// A page that comes back from the browser's memory may send its form again.
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});
