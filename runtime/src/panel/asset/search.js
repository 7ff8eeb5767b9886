// @ts-check
// Search over records, pages and actions in a dialog: a combobox with a list box (WAI-ARIA APG). It also lists the records that the
// user opened last, which the browser keeps until the user signs out.

import { $, $$, apiFetch, translate } from './page.js';

/** Milliseconds without a key before the server is searched. */
const DEBOUNCE = 150;
/** Length from which the API searches. */
const MIN_CHARACTERS = 2;
const MAX_RECENT = 10;
/** Pages and actions that are shown for a text. */
const MAX_LINKS = 5;

const user = $('meta[name="panel-user"]')?.content;
const key = `charter-recent-${user}`;

// ---- Records that the user opened last. The storage can be blocked or hold anything.

function recent() {
  try {
    const list = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(list) ? list.filter((one) => typeof one?.url === 'string' && one.url.startsWith('/') && !one.url.startsWith('//')) : [];
  } catch { return []; }
}

function remember(one) {
  try { localStorage.setItem(key, JSON.stringify([one, ...recent().filter((other) => other.url !== one.url)].slice(0, MAX_RECENT))); } catch { /* blocked */ }
}

const record = $('[data-record]');
if (user && record) remember({ url: location.pathname, title: record.dataset.record, note: record.dataset.kind });
document.addEventListener('submit', ({ target }) => {
  if (/** @type {Element} */ (target).matches('form[action="/panel/sign-out"]')) try { localStorage.removeItem(key); } catch { /* blocked */ }
});

// ---- Options: `{ url, title, note }` in groups.

const contains = (text) => (one) => one.title.toLowerCase().includes(text.toLowerCase());
const pages = () => $$('.side .links a').map((link) => ({ url: link.getAttribute('href'), title: link.textContent }));
const actions = () => $$('.side .links a[data-create]').map((link) => ({ url: `${link.getAttribute('href')}/new`, title: translate('New {record}', { record: link.dataset.create }) }));

function groupsFor(text, records) {
  const found = text ? (list) => list.filter(contains(text)).slice(0, MAX_LINKS) : (list) => list;
  const groups = [[translate('Recent'), found(recent())], [translate('Pages'), found(pages())], [translate('Actions'), found(actions())], [translate('Records'), records]];
  if (text) groups.push([translate('More'), [{ url: `/search?q=${encodeURIComponent(text)}`, title: translate('All results for “{text}”', { text }) }]]);
  return groups.filter(([, list]) => list.length);
}

async function findRecords(text, signal) {
  const response = await apiFetch(`/panel/api/search?q=${encodeURIComponent(text)}`, { signal });
  if (!response.ok) return [];
  // The labels of the navigation, in the language of the page.
  const label = (plural) => $(`.side .links a[href="/${plural}"]`)?.textContent ?? plural.replaceAll('_', ' ');
  return (await response.json()).data.filter((one) => one.url).map((one) => ({
    url: one.url.replace(/^\/api\/v1/, ''),
    title: one.title,
    note: one.text === one.title || !one.text ? label(one.resource) : `${label(one.resource)}: ${one.text}`,
  }));
}

// ---- The dialog.

let search;

function makeDialog() {
  const dialog = document.createElement('dialog');
  dialog.className = 'finder';
  dialog.setAttribute('aria-label', translate('Search'));
  const input = document.createElement('input');
  const list = document.createElement('div');
  const status = document.createElement('p');
  Object.assign(input, { type: 'text', autocomplete: 'off', spellcheck: false, placeholder: translate('Records, pages and actions') });
  const attributes = { role: 'combobox', 'aria-label': translate('Search records, pages and actions'), 'aria-autocomplete': 'list', 'aria-expanded': 'true', 'aria-controls': 'found' };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  list.id = 'found';
  list.role = 'listbox';
  list.setAttribute('aria-label', translate('Results'));
  list.tabIndex = -1;
  status.className = 'faint';
  status.role = 'status';
  dialog.append(input, list, status);
  document.body.append(dialog);

  let options = [], at = 0, moved = false, timer, pending;
  const highlight = () => {
    for (const [index, item] of $$('[role="option"]', list).entries()) {
      item.setAttribute('aria-selected', String(index === at));
      if (index === at) { input.setAttribute('aria-activedescendant', item.id); item.scrollIntoView({ block: 'nearest' }); }
    }
  };
  const go = (one) => { dialog.close(); location.href = one.url; };
  const show = (text, records) => {
    const chosen = moved ? options[at]?.url : undefined;
    options = [];
    list.replaceChildren(...groupsFor(text, records).map(([name, found]) => {
      const group = document.createElement('div');
      group.role = 'group';
      group.setAttribute('aria-label', name);
      for (const one of found) {
        const item = document.createElement('div'), note = document.createElement('small');
        item.role = 'option';
        item.id = `found-${options.push(one)}`;
        item.textContent = one.title;
        note.textContent = one.note ?? '';
        if (one.note) item.append(' ', note);
        item.addEventListener('click', () => go(one));
        group.append(item);
      }
      return group;
    }));
    // The option that the user moved to stays selected when the records arrive.
    at = Math.max(0, options.findIndex((one) => one.url === chosen));
    highlight();
  };
  const typed = () => {
    const text = input.value.trim();
    moved = false;
    clearTimeout(timer);
    pending?.abort();
    show(text, []);
    status.textContent = '';
    if (text.length < MIN_CHARACTERS) return;
    timer = setTimeout(async () => {
      pending = new AbortController();
      const records = await findRecords(text, pending.signal).catch(() => null);
      // An answer to an earlier text is dropped.
      if (!records || input.value.trim() !== text || !dialog.open) return;
      show(text, records);
      status.textContent = records.length === 1 ? translate('1 record') : records.length ? translate('{count} records', { count: records.length }) : translate('No records');
    }, DEBOUNCE);
  };
  input.addEventListener('input', typed);
  input.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (options.length) at = (at + (event.key === 'ArrowDown' ? 1 : -1) + options.length) % options.length;
      moved = true;
      highlight();
    } else if (event.key === 'Enter' && options[at]) go(options[at]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener('close', () => { clearTimeout(timer); pending?.abort(); });
  return { dialog, open: () => { input.value = ''; typed(); dialog.showModal(); input.focus(); } };
}

/** Opens the dialog, or closes it. Returns false on pages without a signed-in user, and while another dialog is open. */
export function openSearch() {
  if (!user) return false;
  search ??= makeDialog();
  if (search.dialog.open) search.dialog.close();
  else if ($('dialog[open]')) return false;
  else search.open();
  return true;
}
