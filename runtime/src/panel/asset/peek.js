// @ts-check
// Peek: the fields of a row's record in a dialog over the list. Space opens and closes it, arrow keys show the records next to it.

import { currentRow, moveTo, rows } from './cursor.js';
import { $, $$ } from './page.js';

/** @type {HTMLDialogElement | null} */
const dialog = $('#peek');
/** The row whose record is shown. @type {any} */
let row = null;
let pending = new AbortController();

/** The cards with the fields of a record's page; null if it is another page. @param {string} text */
function fieldsOf(text) {
  const page = new DOMParser().parseFromString(text, 'text/html');
  if (!$('.main-column', page)) return null;
  const cards = $$('.main-column > .card', page).filter((card) => $(':scope > .facts', card));
  // The list has ids of its own.
  for (const element of cards.flatMap((card) => $$('[id]', card))) element.removeAttribute('id');
  return { title: $('main h1', page)?.textContent ?? '', cards };
}

/** Shows the record of a row. @param {any} next */
async function show(next) {
  if (!dialog || !next) return;
  row = next;
  const all = rows(), index = all.indexOf(row), link = $('[data-open]', row);
  const [title, fields, failed] = [$('#peek-title', dialog), $('[data-peeked]', dialog), $('[data-failed]', dialog)];
  title.textContent = link.textContent.trim();
  $('[data-position]', dialog).textContent = `${index + 1} / ${all.length}`;
  $('[data-open-record]', dialog).href = link.href;
  for (const button of $$('[data-step]', dialog)) button.disabled = !all[index + Number(button.dataset.step)];
  const opens = !dialog.open;
  if (opens) dialog.showModal();
  // A button with the focus would take Space, and a disabled one loses the focus.
  if (opens || !dialog.contains(document.activeElement) || $(':disabled:focus', dialog)) dialog.focus();
  failed.hidden = true;
  fields.ariaBusy = 'true';
  pending.abort();
  pending = new AbortController();
  const { signal } = pending;
  const text = await fetch(link.href, { headers: { Accept: 'text/html' }, signal }).then((response) => response.text()).catch(() => '');
  // Another record is shown since, or none.
  if (signal.aborted) return;
  const found = fieldsOf(text);
  fields.ariaBusy = 'false';
  failed.hidden = Boolean(found);
  fields.replaceChildren(...(found?.cards ?? []));
  if (found && title.textContent !== found.title) title.textContent = found.title;
  dialog.scrollTop = 0;
}

/** @param {number} step */
function showNext(step) {
  const all = rows(), next = all[all.indexOf(row) + step];
  if (next) show(next);
}

function openRecord() {
  const link = $('[data-open]', row);
  dialog?.close();
  link.click();
}

dialog?.addEventListener('keydown', (event) => {
  const at = /** @type {Element} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || at.closest('input, select, textarea')) return;
  if (event.key === 'ArrowDown' || event.key === 'j') showNext(1);
  else if (event.key === 'ArrowUp' || event.key === 'k') showNext(-1);
  else if (event.key === ' ' && !at.closest('button, summary')) { if (!event.repeat) dialog.close(); }
  else if (event.key === 'Enter' && !at.closest('a, button, summary')) openRecord();
  else return;
  event.preventDefault();
  // The list has the same keys.
  event.stopPropagation();
});
dialog?.addEventListener('click', (event) => {
  const button = /** @type {Element} */ (event.target).closest('[data-step]');
  if (button) showNext(Number(/** @type {HTMLElement} */ (button).dataset.step));
});
dialog?.addEventListener('close', () => {
  pending.abort();
  $('[data-peeked]', dialog).replaceChildren();
  if (row?.isConnected) moveTo(row);
});

document.addEventListener('keydown', (event) => {
  const at = /** @type {Element} */ (event.target);
  if (event.key !== ' ' || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (!dialog || $('dialog[open]') || at.closest('input, button, select, textarea, summary, [contenteditable], a:not([data-row] a)')) return;
  const next = currentRow();
  if (!next || !$('[data-open]', next)) return;
  event.preventDefault();
  if (!event.repeat) show(next);
});
