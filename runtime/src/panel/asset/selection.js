// @ts-check
// Selected rows of a list. They stay selected on its other pages and in another order, until its conditions change. Shift selects ranges.

import { $, $$, showStatus, translate } from './page.js';

/** Parameters of a list's address that are no conditions. */
const NO_CONDITIONS = ['page', 'per_page', 'sort', 'columns', 'totals', 'tool', 'incomplete'];
const PREFIX = 'charter-selection-';

const user = $('meta[name="panel-user"]')?.content;

// ---- Storage of this tab: the conditions and the selected ids of each list. It can be blocked or hold anything.

/** @param {string} path */
const keyOf = (path) => `${PREFIX}${user}-${path}`;

function conditions() {
  const pairs = [...new URLSearchParams(location.search)].filter(([name]) => !NO_CONDITIONS.includes(name));
  return JSON.stringify(pairs.sort());
}

/** The selected ids of this page's list. A selection with other conditions is forgotten. @returns {Set<string>} */
function load() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(keyOf(location.pathname)) ?? 'null');
    if (stored?.conditions === conditions() && Array.isArray(stored.ids)) return new Set(stored.ids.map(String));
    sessionStorage.removeItem(keyOf(location.pathname));
  } catch { /* blocked */ }
  return new Set();
}

function store() {
  const key = keyOf(location.pathname);
  try {
    if (selected.size) sessionStorage.setItem(key, JSON.stringify({ conditions: conditions(), ids: [...selected] }));
    else sessionStorage.removeItem(key);
  } catch { /* blocked: the selection lasts as long as the page */ }
}

function forgetAll() {
  try { for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key); } catch { /* blocked */ }
}

// ---- The rows of this page, and the bar below them.

let selected = load();
/** The checkbox that was toggled last: one end of a range. @type {HTMLInputElement | null} */
let last = null;
/** True while the next toggled row ends a range. */
let ranged = false;

/** @returns {HTMLInputElement[]} */
const boxes = () => $$('[data-bulk] input[type="checkbox"][name="id"]');

/** @param {number} count @param {number} elsewhere */
function label(count, elsewhere) {
  if (!elsewhere) return translate('{count} selected', { count });
  return elsewhere === 1 ? translate('{count} selected, 1 of them on another page', { count }) : translate('{count} selected, {elsewhere} of them on other pages', { count, elsewhere });
}

/** Shows the selection. Hidden inputs send the rows of other pages. */
function show() {
  const form = $('[data-bulk]:has([data-chosen])');
  if (!form) return;
  const shown = boxes();
  for (const box of shown) box.checked = selected.has(box.value);
  const here = new Set(shown.map((box) => box.value)), elsewhere = [...selected].filter((id) => !here.has(id));
  for (const input of $$('input[type="hidden"][name="id"]', form)) input.remove();
  form.append(...elsewhere.map((value) => Object.assign(document.createElement('input'), { type: 'hidden', name: 'id', value })));
  const every = $('[data-all]', form), checked = shown.filter((box) => box.checked).length;
  every.checked = checked > 0 && checked === shown.length;
  every.indeterminate = checked > 0 && checked < shown.length;
  const chosen = $('[data-chosen]', form), matching = $('[name="_all"]:checked', form);
  chosen.dataset.none ??= chosen.textContent;
  const text = matching ? translate('All selected') : selected.size ? label(selected.size, elsewhere.length) : chosen.dataset.none;
  // Screen readers announce a change only.
  if (chosen.textContent !== text) chosen.textContent = text;
  $('[data-clear]', form).hidden = !matching && !selected.size;
}

/** Selects or clears rows, as far as the server takes them together. @param {HTMLInputElement[]} list @param {boolean} checked */
function choose(list, checked) {
  const limit = Number($('[data-bulk]').dataset.bulk);
  let refused = false;
  for (const { value } of list) {
    if (!checked) selected.delete(value);
    else if (selected.has(value) || selected.size < limit) selected.add(value);
    else refused = true;
  }
  store();
  show();
  if (refused) showStatus(translate('At most {limit} rows can be selected. Choose all matching records to change more.', { limit }));
}

/** A row was toggled: a range gets its state. @param {HTMLInputElement} box */
function toggled(box) {
  const all = boxes(), from = last ? all.indexOf(last) : -1, to = all.indexOf(box), { checked } = box;
  const range = ranged && from >= 0 ? all.slice(Math.min(from, to), Math.max(from, to) + 1) : [box];
  // The rows next to the last toggled one come first when not all can be selected.
  choose(from > to ? range.reverse() : range, checked);
  last = box;
  ranged = false;
}

/** Toggles a row by a key. @param {HTMLElement | null} row @param {boolean} isRange */
export function toggleRow(row, isRange) {
  const box = row && $('[data-bulk] input[type="checkbox"][name="id"]', row);
  if (!box) return;
  box.checked = !box.checked;
  ranged = isRange;
  toggled(box);
}

/** The element of an event; its type is that of the page. @param {Event} event @returns {any} */
const targetOf = (event) => event.target;

document.addEventListener('change', (event) => {
  const at = targetOf(event);
  if (at.matches('[data-bulk] [data-all]')) choose(boxes(), at.checked);
  else if (at.matches('[data-bulk] [name="_all"]')) show();
  else if (at.matches('[data-bulk] input[name="id"]')) toggled(at);
});

document.addEventListener('click', (event) => {
  const at = targetOf(event);
  if (at.closest('[data-bulk] [data-clear]')) {
    const every = $('[name="_all"]');
    if (every) every.checked = false;
    selected.clear();
    store();
    show();
    // The button is hidden now.
    $('[data-bulk] [data-all]').focus();
    return;
  }
  const box = $('input[name="id"]', at.closest('[data-bulk] .pick') ?? document.createElement('td'));
  if (!box) return;
  ranged ||= event.shiftKey;
  // Firefox ignores a click with Shift on the label of a checkbox.
  if (at !== box && event.shiftKey) { event.preventDefault(); box.click(); }
});
// Shift would select the text between two clicks.
document.addEventListener('mousedown', (event) => { if (event.shiftKey && targetOf(event).closest('[data-bulk] .pick')) event.preventDefault(); });

// ---- The end of a selection: its operation was sent, or the user signed out, perhaps in another tab.

document.addEventListener('submit', (event) => {
  const form = targetOf(event), path = (form.getAttribute('action') ?? '').match(/^(.*)\/bulk$/)?.[1];
  if (form.matches('[action="/panel/sign-out"]')) forgetAll();
  else if (path && $('[name="_step"][value^="apply"]', form)) try { sessionStorage.removeItem(keyOf(path)); } catch { /* blocked */ }
});
if (!user) forgetAll();

// The browser restores checkboxes, and a page of its cache has the selection of then.
window.addEventListener('pageshow', () => { selected = load(); show(); });
show();
