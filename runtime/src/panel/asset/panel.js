// @ts-check
// Scripts of the panel's pages. Pages work without them, except uploads and copying.

// Custom elements. `rows.js` comes first, because it clones rows before their pickers are set up.
import './rows.js';
import './cell.js';
import './conditions.js';
import { currentRow, moveBy } from './cursor.js';
import { $, $$, apiFetch, csrfToken, showStatus, translate } from './page.js';
import { offerPasskey } from './passkey.js';
import './peek.js';
import { resolveReferences } from './reference.js';
import { openSearch } from './search.js';
import { toggleRow } from './selection.js';

// ---- Filter and column picker, loaded lazily from the page that has them open.

async function loadTool(tool) {
  const link = $('[data-tool]', tool);
  if (!link || link.dataset.loading) return;
  link.dataset.loading = 'yes';
  const page = await fetch(link.href, { headers: { Accept: 'text/html' } }).then((response) => response.text()).catch(() => '');
  const loaded = $(`#${tool.id}`, new DOMParser().parseFromString(page, 'text/html'));
  // The session ended or the connection failed: the browser shows the sign-in page or its error page.
  if (!loaded) { location.href = link.href; return; }
  link.replaceWith(...[...loaded.children].filter((part) => part.localName !== 'summary'));
  if (tool.dataset.begin) $('select', tool).focus();
}

/** The element of an event; its type is that of the page. @param {Event} event @returns {any} */
const targetOf = (event) => event.target;

document.addEventListener('toggle', (event) => { if (targetOf(event).matches('.tool[open]')) loadTool(event.target); }, true);

// ---- Column picker: arrows move columns in place instead of sending the form.

function moveColumn(arrow, up) {
  const item = arrow.closest('li');
  let neighbor = item;
  // Unchecked columns have no position.
  do neighbor = up ? neighbor.previousElementSibling : neighbor.nextElementSibling; while (neighbor && !$('input:checked', neighbor));
  if (up) neighbor?.before(item);
  else neighbor?.after(item);
  arrow.focus();
  item.dispatchEvent(new Event('input', { bubbles: true }));
}

// ---- Uploads with progress bars.

/** Why an upload failed, in the words of the page; the API's message for a reason that only the API knows. */
function refusalOfUpload(request) {
  if (request.status === 401) return translate('your session has ended; sign in again');
  if (request.status === 413) return translate('the file is too large');
  try { return JSON.parse(request.responseText).message; } catch { return translate('upload failed'); }
}

function reloadItem() {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = location.href;
  link.textContent = translate('Show the stored files');
  link.addEventListener('click', (event) => { event.preventDefault(); location.reload(); });
  item.append(link);
  return item;
}

function upload(form, files) {
  const uploads = [...files].map((file) => new Promise((done) => {
    const item = document.createElement('li');
    const bar = document.createElement('progress');
    bar.max = 1;
    bar.value = 0;
    bar.setAttribute('aria-label', file.name);
    item.append(file.name, bar);
    $('[data-progress]', form).append(item);
    const body = new FormData();
    for (const hidden of $$('input[type="hidden"]', form)) body.append(hidden.name, hidden.value);
    body.append('file', file);
    const request = new XMLHttpRequest();
    request.open('POST', form.dataset.upload);
    request.setRequestHeader('X-Panel-Token', csrfToken);
    request.upload.onprogress = (event) => { bar.value = event.loaded / event.total; };
    request.onloadend = () => {
      if (request.status === 201) { item.textContent = translate('{file}: done', { file: file.name }); done(true); return; }
      const message = refusalOfUpload(request);
      item.textContent = `${file.name}: ${message}`;
      item.className = 'error';
      done(false);
    };
    request.send(body);
  }));
  // The page lists the stored files once it is loaded again. With a message to read, a link does that.
  Promise.all(uploads).then((all) => {
    if (all.every(Boolean)) location.reload();
    else if (all.some(Boolean)) $('[data-progress]', form).append(reloadItem());
  });
}

// ---- Copy.

async function copy(text) {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  showStatus(translate('Copied'));
}

// ---- Theme: changed without leaving the page, which may contain unsaved input.

async function setTheme(form, button) {
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form, button)));
  // On success the server redirects back to this page.
  const response = await fetch(form.action, { method: 'POST', body, redirect: 'manual', headers: { Accept: 'text/html' } }).catch(() => null);
  if (response?.type !== 'opaqueredirect') { showStatus(translate('The theme was not changed')); return; }
  if (button.value === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = button.value;
  for (const one of $$('button', form)) one.setAttribute('aria-pressed', String(one === button));
}

// ---- Stop of a bulk operation, whose next page tells what the batch under way did.

/** The key under which that page finds that Stop was pressed. */
const STOPPING = 'stopping';

function stopAfterBatch(button) {
  try { sessionStorage.setItem(STOPPING, 'yes'); showStatus(button.dataset.stopping); } catch {
    // Storage is blocked: the list shows what is done.
    location.href = $('[name="_back"]', button.form).value;
  }
}

function takeStopping() {
  try {
    const found = sessionStorage.getItem(STOPPING);
    sessionStorage.removeItem(STOPPING);
    return found !== null;
  } catch { return false; }
}

// ---- Event handlers.


document.addEventListener('click', (event) => {
  const at = targetOf(event).closest('button, summary, a, label');
  // A button that removes its row is no longer in the menu, but its path is.
  for (const menu of $$('details.menu[open], details.tool[open], .me details[open]')) if (!event.composedPath().includes(menu)) menu.open = false;
  if (!at) return;
  // A modified click opens the search page in a tab of its own.
  if (at.matches('[data-search]') && !event.ctrlKey && !event.metaKey && !event.shiftKey && openSearch()) event.preventDefault();
  if (at.matches('.move button')) { event.preventDefault(); moveColumn(at, at.name === '_up'); }
  // The page of the batch that is under way knows what it did.
  else if (at.matches('[data-stopping]') && at.form.dataset.sent) stopAfterBatch(at);
  else if (at.matches('[data-copy]')) copy(at.dataset.copy);
  else if (at.matches('[data-keys]')) $('#keys').showModal();
});

// The whole row opens its record, like the link of its name. Ctrl and the middle button open it in another tab.
function openRow(event) {
  if (event.defaultPrevented || event.target.closest('a, button, input, label, select, summary, textarea, .pick') || String(getSelection())) return;
  const link = $('[data-open]', event.target.closest('tr') ?? document.createElement('tr'));
  if (!link) return;
  if (event.button === 1 || (event.button === 0 && (event.ctrlKey || event.metaKey))) open(link.href, '_blank', 'noopener');
  else if (event.button === 0) link.click();
}
document.addEventListener('click', openRow);
document.addEventListener('auxclick', openRow);

document.addEventListener('change', (event) => {
  const at = targetOf(event);
  if (at.matches('[data-upload] input[type="file"]')) upload(at.form, at.files);
});

document.addEventListener('submit', (event) => {
  const form = targetOf(event);
  if (form.matches('.themes')) { event.preventDefault(); setTheme(form, event.submitter); return; }
  const resolving = resolveReferences(form);
  if (resolving) { event.preventDefault(); resolving.then(() => form.requestSubmit(event.submitter)); return; }
  if (form.matches('[data-bulk]') && !$('[name="id"]:is(:checked, [type="hidden"]), [name="_all"]:checked', form)) { event.preventDefault(); showStatus(translate('No rows selected')); }
  if (form.matches('[data-columns]')) {
    // One parameter with the columns in their order.
    const names = $$('input[name="columns"]:checked', form).map((one) => one.value);
    $$('input[name="columns"]', form).forEach((one) => { one.disabled = true; });
    const all = document.createElement('input');
    all.type = 'hidden';
    all.name = 'columns';
    all.value = names.join(',');
    form.append(all);
  }
  // A second submit would abort the first one.
  if (!event.defaultPrevented && form.method === 'post') {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = 'yes';
  }
  if (!event.defaultPrevented && form.matches('[data-form]')) unsaved = false;
});
window.addEventListener('pageshow', () => $$('form[data-sent]').forEach((form) => { delete form.dataset.sent; }));

for (const drop of $$('[data-upload]')) {
  const over = (on) => (event) => { event.preventDefault(); drop.classList.toggle('over', on); };
  drop.addEventListener('dragover', over(true));
  drop.addEventListener('dragleave', over(false));
  drop.addEventListener('drop', (event) => { over(false)(event); upload(drop, event.dataTransfer.files); });
}

// ---- Forms: the browser warns before unsaved input is lost.

let unsaved = Boolean($('[data-unsaved]'));
for (const form of $$('[data-form]')) form.addEventListener('input', () => { unsaved = true; });
window.addEventListener('beforeunload', (event) => { if (unsaved) event.preventDefault(); });
$$('form[data-passkey]').forEach(offerPasskey);
// Focus the error summary, else the first input of a new record, unless the page has an `autofocus` element.
$(`[data-focus]${$('[autofocus]') ? '' : ', form[data-begin] :is(input:not([type="hidden"]), select, textarea)'}`)?.focus();
// Screen readers announce a flash message only when it changes.
const flash = $('#status')?.textContent.trim();
if (flash) { showStatus(''); setTimeout(() => showStatus(flash), 100); }
// The next batch of a bulk operation, unless Stop was pressed during the one before.
const nextBatch = $('form[data-continue]');
const isStopping = takeStopping();
nextBatch?.requestSubmit(isStopping ? $('[data-stopping]', nextBatch) : null);

// Scroll the tab of the selected saved view to the center.
for (const row of $$('.views nav')) {
  const here = $('[aria-current]', row)?.getBoundingClientRect(), all = row.getBoundingClientRect();
  if (here) row.scrollLeft += here.left - all.left - (all.width - here.width) / 2;
}

// ---- Keyboard shortcuts.

let before = '';
document.addEventListener('keydown', (event) => {
  const typing = targetOf(event).matches('input:not([type="checkbox"]), textarea, select');
  if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && openSearch()) { event.preventDefault(); return; }
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); (targetOf(event).closest('form.record, form[data-form]') ?? ($('dialog[open]') ? null : $('main form.record')))?.requestSubmit(); return; }
  if (event.key === 'Escape') {
    for (const menu of $$('details.menu[open], details.tool[open], .me details[open]')) { menu.open = false; $('summary', menu).focus(); }
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || $('dialog[open]')) return;
  const follow = (selector) => { const link = $(selector); if (link) { link.click(); event.preventDefault(); } };
  const last = before;
  before = event.key;
  switch (event.key) {
    case '/': $('#search')?.focus(); event.preventDefault(); break;
    case 'j': moveBy(1); break;
    case 'k': moveBy(-1); break;
    case 'x': case 'X': toggleRow(currentRow(), event.shiftKey); break;
    case 'n': follow('[data-new]'); break;
    case 'e': follow('[data-edit]'); break;
    case 'f': { const filter = $('#filter'); if (filter) { filter.open = true; filter.dataset.begin = 'yes'; $('select', filter)?.focus(); event.preventDefault(); } break; }
    case '[': follow('a[rel="prev"]'); break;
    case ']': follow('a[rel="next"]'); break;
    case 'h': if (last === 'g') location.href = '/'; break;
    case '?': $('#keys')?.showModal(); break;
  }
});
