// Keyboard shortcuts for review items, and the choice of many rows at once. The console works without this script.
'use strict';

// The keys j and k: next and previous item. The key e: the proposed action. A button about money only gets the focus;
// Enter then presses it.
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest?.('input, select, textarea, [contenteditable]')) return;
  const at = { j: 'a[data-key="j"]', k: 'a[data-key="k"]', e: 'button[data-key="e"]' }[event.key];
  const found = at === undefined ? null : document.querySelector(at);
  if (found === null) return;
  event.preventDefault();
  if (found.dataset.careful !== undefined && document.activeElement !== found) found.focus();
  else found.click();
});

for (const hint of document.querySelectorAll('[data-keys]')) hint.hidden = false;

/** One box chooses all rows of the page. Also shows the number of chosen rows. */
for (const all of document.querySelectorAll('input[data-choose-all]')) {
  const boxes = [...document.querySelectorAll(`input[type=checkbox][form="${all.dataset.chooseAll}"]`)];
  const count = document.querySelector('[data-chosen]');
  const form = document.getElementById(all.dataset.chooseAll);
  const say = () => {
    const n = boxes.filter((b) => b.checked).length;
    all.checked = n === boxes.length && n > 0;
    all.indeterminate = n > 0 && n < boxes.length;
    if (count) count.textContent = n === 0 ? '' : `${n} chosen`;
    form?.classList.toggle('waits', n === 0);
  };
  all.closest('[hidden]')?.removeAttribute('hidden');
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked;
    say();
  });
  for (const box of boxes) box.addEventListener('change', say);
  say();
}
