// @ts-check
// Form of a new record in a dialog, for a picker that misses the record: the form below it keeps its input.

import { $, $$, translate } from './page.js';

/** Pages of open and closed dialogs by address: a closed one keeps its input. @type {Map<string, HTMLDialogElement>} */
const dialogs = new Map();

/** @param {string} text */
const parse = (text) => new DOMParser().parseFromString(text, 'text/html');

/**
 * Shows the form of the page at `url`. `resolve` completes the references of the form before it is sent, and `created` gets the id of the
 * new record.
 * @param {string} url
 * @param {(form: HTMLFormElement) => Promise<unknown> | null} resolve
 * @param {(id: string) => void} created
 */
export async function openCreateForm(url, resolve, created) {
  const kept = dialogs.get(url);
  if (kept) { kept.showModal(); return; }
  const page = await fetch(url, { headers: { Accept: 'text/html' } }).then((response) => response.text()).catch(() => '');
  const dialog = document.createElement('dialog');
  dialog.className = 'create-form';
  // The session ended or the connection failed: the browser shows it in another tab, and the form stays.
  if (!fill(dialog, parse(page))) { window.open(url, '_blank', 'noopener'); return; }
  dialogs.set(url, dialog);
  document.body.append(dialog);
  dialog.addEventListener('submit', async (event) => {
    event.preventDefault();
    event.stopPropagation();
    const form = /** @type {HTMLFormElement} */ (event.target), submitter = /** @type {SubmitEvent} */ (event).submitter;
    if (form.dataset.sent) return;
    form.dataset.sent = 'yes';
    await resolve(form);
    const id = await send(dialog, form, submitter);
    delete form.dataset.sent;
    if (!id) return;
    dialogs.delete(url);
    dialog.close();
    dialog.remove();
    created(id);
  });
  dialog.showModal();
}

/**
 * Sends the form. Returns the id of the record, or shows the answer in the dialog.
 * @param {HTMLDialogElement} dialog
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
async function send(dialog, form, submitter) {
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form, submitter)));
  const address = form.getAttribute('action') ?? '';
  const response = await fetch(address, { method: 'POST', body, headers: { Accept: 'text/html' } }).catch(() => null);
  const id = response?.redirected && response.ok && new URL(response.url).pathname.match(/\/(\d+)$/)?.[1];
  if (id) return id;
  if (!response || !fill(dialog, parse(await response.text()))) {
    showProblem(form, response ? translate('The record was not created. Sign in again in another tab, then try once more.') : translate('The server cannot be reached. Try again.'));
  }
  return null;
}

/** @param {HTMLFormElement} form @param {string} text */
function showProblem(form, text) {
  const problem = $('[data-problem]', form) ?? document.createElement('p');
  Object.assign(problem, { className: 'problem', role: 'alert', textContent: text });
  problem.dataset.problem = '';
  form.prepend(problem);
}

/**
 * Fills the dialog with the form of a page; false if the page has none.
 * @param {HTMLDialogElement} dialog
 * @param {Document} page
 */
function fill(dialog, page) {
  const form = page.querySelector('form.record');
  if (!form) return false;
  const parts = [page.querySelector('main h1'), page.querySelector('main > .problem'), form].filter((part) => part !== null);
  // The form below may have inputs of the same names.
  for (const element of parts.flatMap((part) => [part, ...$$('*', part)])) {
    for (const name of ['id', 'for', 'aria-describedby']) {
      const value = element.getAttribute(name);
      if (value) element.setAttribute(name, value.split(' ').map((one) => `new-${one}`).join(' '));
    }
    const link = element.getAttribute('href');
    if (link?.startsWith('#')) element.setAttribute('href', `#new-${link.slice(1)}`);
  }
  const cancel = document.createElement('button');
  Object.assign(cancel, { type: 'button', textContent: translate('Cancel') });
  cancel.addEventListener('click', () => dialog.close());
  const heading = document.createElement('h2');
  heading.textContent = parts[0]?.textContent ?? '';
  dialog.setAttribute('aria-label', heading.textContent);
  $('.sticky a.button', form)?.replaceWith(cancel);
  dialog.replaceChildren(heading, ...parts.slice(1));
  if (dialog.open) $('.problem', dialog)?.focus();
  return true;
}
