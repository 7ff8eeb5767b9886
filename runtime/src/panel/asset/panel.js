// Makes the panel's pages quicker to use. Each page works without it, but for uploads and for what is copied.

import { $, $$, ask, say, token } from './page.js';
import { addCondition, fit, fitValue, remove } from './conditions.js';
import { offerTitles, settle } from './reference.js';
import { offerRows } from './rows.js';

// ---- Tools of a list: a closed one is not sent, but taken out of the page that has it open.

async function fill(tool) {
  const link = $('[data-tool]', tool);
  if (!link || link.dataset.asked) return;
  link.dataset.asked = 'yes';
  const page = await fetch(link.href, { headers: { Accept: 'text/html' } }).then((answer) => answer.text()).catch(() => '');
  const made = $(`#${tool.id}`, new DOMParser().parseFromString(page, 'text/html'));
  // Whoever is signed out meanwhile is led to where one signs in; without a connection the browser says so.
  if (!made) { location.href = link.href; return; }
  link.replaceWith(...[...made.children].filter((part) => part.localName !== 'summary'));
  $$('input[data-titles]', tool).forEach(offerTitles);
  if (tool.dataset.begin) $('select', tool).focus();
}

document.addEventListener('toggle', (event) => { if (event.target.matches('.tool[open]')) fill(event.target); }, true);

// ---- Columns: moved in place, where the arrows would ask for the page again.

function move(arrow, up) {
  const item = arrow.closest('li');
  let beside = item;
  // What is not chosen has no place in the order.
  do beside = up ? beside.previousElementSibling : beside.nextElementSibling; while (beside && !$('input:checked', beside));
  if (up) beside?.before(item);
  else beside?.after(item);
  arrow.focus();
  item.dispatchEvent(new Event('input', { bubbles: true }));
}

// ---- Rows: chosen, walked through, opened.

function chosen(form) {
  const count = $$('input[name="id"]:checked', form).length;
  const told = $('[data-chosen]', form);
  told.dataset.none ??= told.textContent;
  told.textContent = $('[name="_all"]:checked', form) ? 'Chosen:' : count ? `${count} chosen` : told.dataset.none;
}

let row = -1;
function walk(step) {
  const rows = $$('[data-row]');
  if (!rows.length) return;
  row = Math.min(Math.max(row + step, 0), rows.length - 1);
  rows.forEach((one, index) => one.classList.toggle('at', index === row));
  rows[row].scrollIntoView({ block: 'nearest' });
  $('[data-open]', rows[row])?.focus({ preventScroll: true });
}

// ---- Uploads, with how far they are.

function upload(form, files) {
  const left = [...files].map((file) => new Promise((done) => {
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
    request.setRequestHeader('X-Panel-Token', token);
    request.upload.onprogress = (event) => { bar.value = event.loaded / event.total; };
    request.onloadend = () => {
      if (request.status === 201) { item.textContent = `${file.name}: done`; done(true); return; }
      let told = 'it failed';
      try { told = JSON.parse(request.responseText).message; } catch { /* no JSON: the connection broke */ }
      item.textContent = `${file.name}: ${told}`;
      item.className = 'error';
      done(false);
    };
    request.send(body);
  }));
  Promise.all(left).then((all) => { if (all.every(Boolean)) location.reload(); });
}

// ---- What is copied and exported.

async function copy(text) {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say('Copied');
}

async function exported(button) {
  const answer = await ask(button.dataset.address, { headers: { Accept: button.dataset.export } });
  if (!answer.ok) { say(answer.status === 401 ? 'You are signed out: load the page again' : (await answer.json()).message); return; }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await answer.blob());
  link.download = `${button.dataset.name}.${button.dataset.export === 'text/csv' ? 'csv' : 'ndjson'}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

// ---- The theme, without leaving a page on which something may be written.

async function theme(form, button) {
  const body = new URLSearchParams(new FormData(form, button));
  // Where it was kept the answer leads back to this page.
  const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual', headers: { Accept: 'text/html' } }).catch(() => null);
  if (answer?.type !== 'opaqueredirect') { say('The theme was not changed'); return; }
  if (button.value === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = button.value;
  for (const one of $$('button', form)) one.setAttribute('aria-pressed', String(one === button));
}

// ---- Rows of a form that are removed: the focus stays beside them.

function removeRow(row) {
  const form = row.closest('form');
  const beside = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  if (beside) $('input:not([type="hidden"]), select, button', beside)?.focus();
  form.dispatchEvent(new Event('input'));
}

// ---- Everything that is pressed or changed.

document.addEventListener('click', (event) => {
  const at = event.target.closest('button, summary, a, label');
  for (const menu of $$('details.menu[open], details.tool[open], .me details[open]')) if (!menu.contains(event.target)) menu.open = false;
  if (!at) return;
  if (at.matches('[data-add-condition]')) addCondition(at.form);
  else if (at.matches('[data-remove]')) remove(at.closest('[data-condition]'));
  else if (at.matches('[data-remove-row]')) removeRow(at.closest('[data-embedded]'));
  else if (at.matches('.move button')) { event.preventDefault(); move(at, at.name === '_up'); }
  else if (at.matches('[data-copy]')) copy(at.dataset.copy);
  else if (at.matches('[data-export]')) exported(at);
  else if (at.matches('[data-keys]')) $('#keys').showModal();
});

document.addEventListener('change', (event) => {
  const at = event.target;
  if (at.matches('[data-field]')) fit(at.closest('[data-condition]'));
  else if (at.matches('[data-predicate]')) fitValue(at.closest('[data-condition]'));
  else if (at.matches('[data-all]')) {
    $$('input[name="id"]', at.form).forEach((one) => { one.checked = at.checked; });
    chosen(at.form);
  } else if (at.matches('[data-bulk] input[name="id"], [data-bulk] [name="_all"]')) chosen(at.form);
  else if (at.matches('[data-upload] input[type="file"]')) upload(at.form, at.files);
});

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.matches('.themes')) { event.preventDefault(); theme(form, event.submitter); return; }
  const looking = settle(form);
  if (looking) { event.preventDefault(); looking.then(() => form.requestSubmit(event.submitter)); return; }
  if (form.dataset.confirm && !confirm(form.dataset.confirm)) event.preventDefault();
  if (form.matches('[data-bulk]') && !$('[name="id"]:checked, [name="_all"]:checked', form)) { event.preventDefault(); say('No row is chosen'); }
  if (form.matches('[data-columns]')) {
    // One parameter, in the order of the list.
    const names = $$('input[name="columns"]:checked', form).map((one) => one.value);
    $$('input[name="columns"]', form).forEach((one) => { one.disabled = true; });
    const all = document.createElement('input');
    all.type = 'hidden';
    all.name = 'columns';
    all.value = names.join(',');
    form.append(all);
  }
  // A second press while the first is under way would only end it.
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

// ---- Forms: what was not saved is not lost by a slip.

let unsaved = Boolean($('[data-unsaved]'));
for (const form of $$('[data-form]')) form.addEventListener('input', () => { unsaved = true; });
window.addEventListener('beforeunload', (event) => { if (unsaved) event.preventDefault(); });
$$('[data-rows]').forEach(offerRows);
$$('input[data-titles]').forEach(offerTitles);
// What went wrong, else the first input of a new record, unless the page says what.
$(`[data-focus]${$('[autofocus]') ? '' : ', form[data-begin] :is(input:not([type="hidden"]), select, textarea)'}`)?.focus();
// What the page says when it comes is heard where it changes.
const arrived = $('#said')?.textContent.trim();
if (arrived) { say(''); setTimeout(() => say(arrived), 100); }
// Very many records take several requests.
$('form[data-continue]')?.requestSubmit();

// In a row that scrolls, where one is stands in its middle: many saved views.
for (const row of $$('.views nav')) {
  const here = $('[aria-current]', row)?.getBoundingClientRect(), all = row.getBoundingClientRect();
  if (here) row.scrollLeft += here.left - all.left - (all.width - here.width) / 2;
}

// ---- Keys.

let before = '';
document.addEventListener('keydown', (event) => {
  const typing = event.target.matches('input:not([type="checkbox"]), textarea, select');
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); event.target.closest('form.record, form[data-form]')?.requestSubmit(); return; }
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
    case 'j': walk(1); break;
    case 'k': walk(-1); break;
    case 'x': { const box = $('tr.at input[name="id"]'); if (box) { box.checked = !box.checked; chosen(box.form); } break; }
    case 'n': follow('[data-new]'); break;
    case 'e': follow('[data-edit]'); break;
    case 'f': { const filter = $('#filter'); if (filter) { filter.open = true; filter.dataset.begin = 'yes'; $('select', filter)?.focus(); event.preventDefault(); } break; }
    case '[': follow('a[rel="prev"]'); break;
    case ']': follow('a[rel="next"]'); break;
    case 'h': if (last === 'g') location.href = '/'; break;
    case '?': $('#keys')?.showModal(); break;
  }
});
