// @ts-check
// Inline edit of lists: a double click or F2 turns a cell into its input. Enter saves, Escape cancels, Tab goes on.

import { $, $$, showStatus, translate } from './page.js';

/** Time after a click in which a second one makes a double click; the row opens after it. Milliseconds. */
const DOUBLE_CLICK = 250;

/** The cells that are edited. @type {Set<CellEditor>} */
const editors = new Set();
let count = 0;

class CellEditor {
  /** @type {HTMLTableRowElement} */ #row;
  /** @type {Node[]} */ #before;
  /** An empty form outside of the table, which is in a form itself. @type {HTMLFormElement} */ #form;
  #box = document.createElement('div');
  #shown = '';
  #failed = false;
  /** @type {Promise<boolean> | null} */ #saving = null;

  /** @param {HTMLTableCellElement} cell @param {HTMLFormElement} form The server's form of this cell. */
  constructor(cell, form) {
    this.cell = cell;
    this.#row = /** @type {HTMLTableRowElement} */ (cell.parentElement);
    this.#before = [...cell.childNodes];
    this.#form = form;
    this.#box.className = 'cell';
    this.#box.addEventListener('keydown', (event) => this.#press(event));
    // After the focus has moved. It stays in the box while another window has it.
    this.#box.addEventListener('focusout', () => setTimeout(() => { if (!this.contains(document.activeElement)) this.leave(); }));
    // In the page first: only there its inputs belong to the form.
    cell.replaceChildren(this.#box);
    this.#show(form);
    editors.add(this);
  }

  get saving() { return this.#saving; }

  /** True if closing the page would lose input. */
  get isUnsaved() { return this.#failed || this.#saving !== null || this.#values() !== this.#shown; }

  /** @param {unknown} node */
  contains(node) { return this.#box.contains(/** @type {Node | null} */ (node)); }

  focus() {
    const input = $('input:not([type="hidden"]), select', this.#box);
    input?.focus();
    if (input?.matches('input:not([type="checkbox"])')) input.select();
  }

  /** Saves a change, or closes the cell; false if its input has to stay. */
  async finish() {
    if (this.#saving || this.#failed || this.#values() !== this.#shown) return this.save();
    this.#close();
    return true;
  }

  /** Saves a change when the focus leaves, unless the server asks for a decision. */
  leave() {
    if (!editors.has(this) || this.#saving || this.#form.hasAttribute('data-asks')) return;
    if (this.#values() !== this.#shown) this.save();
    else if (!this.#failed) this.#close();
  }

  /** Returns true once the value is saved. @param {HTMLElement | null} [button] @returns {Promise<boolean>} */
  save(button) {
    this.#saving ??= this.#send(button ?? null).finally(() => { this.#saving = null; });
    return this.#saving;
  }

  cancel() {
    this.#close();
    focusRow(this.#row);
  }

  #values() { return new URLSearchParams(/** @type {any} */ (new FormData(this.#form))).toString(); }

  /** Shows the server's form. @param {HTMLFormElement} form */
  #show(form) {
    this.#form.remove();
    this.#form = form;
    form.id = `cell-${count += 1}`;
    form.hidden = true;
    this.#box.replaceChildren(...form.childNodes);
    for (const control of $$('input, select, textarea, button', this.#box)) control.setAttribute('form', form.id);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#saveAndGo(event.submitter);
    });
    document.body.append(form);
    this.#shown = this.#values();
  }

  /** @param {HTMLElement | null} button */
  async #send(button) {
    const body = new URLSearchParams(/** @type {any} */ (new FormData(this.#form, button)));
    body.set('_back', $('[data-bulk] [name="_back"]')?.value ?? '');
    this.#box.inert = true;
    this.#box.setAttribute('aria-busy', 'true');
    const { answer, problem } = await request(this.#form.action, { method: 'POST', body });
    this.#box.inert = false;
    this.#box.removeAttribute('aria-busy');
    const form = answer && $('form[data-cell]', answer);
    this.#failed = Boolean(problem || form);
    if (problem) this.#refuse(problem);
    else if (form) this.#show(form);
    else this.#replaceRow($('tr', answer));
    return !this.#failed;
  }

  /** Shows a message below the input. @param {string} message */
  #refuse(message) {
    const words = $('.unsaved', this.#box) ?? document.createElement('p');
    words.className = 'error unsaved';
    words.setAttribute('role', 'alert');
    words.textContent = message;
    this.#box.append(words);
  }

  /** Shows the saved row: other values may depend on this one. @param {HTMLTableRowElement | null} row */
  #replaceRow(row) {
    this.#close();
    showStatus(translate('Saved'));
    // The user may not see the record any more.
    if (!row || row.cells.length !== this.#row.cells.length) { location.reload(); return; }
    const fresh = [...row.cells];
    [...this.#row.cells].forEach((old, index) => {
      if ([...editors].some((editor) => editor.cell === old)) return;
      const checked = $('[name="id"]', old)?.checked, focused = old.contains(document.activeElement);
      old.replaceWith(fresh[index]);
      if (checked) $('[name="id"]', fresh[index]).checked = true;
      if (focused) $('a, input', fresh[index])?.focus({ preventScroll: true });
    });
  }

  #close() {
    editors.delete(this);
    this.#form.remove();
    this.cell.replaceChildren(...this.#before);
  }

  /** @param {HTMLElement | null} [button] */
  async #saveAndGo(button) {
    const closes = button || this.#failed || this.#values() !== this.#shown ? this.save(button) : this.finish();
    if (await closes) focusRow(this.#row);
    else this.focus();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.isComposing) return;
    const button = /** @type {Element} */ (event.target).closest('button');
    if (event.key === 'Enter' && !button) {
      event.preventDefault();
      // A decision is made by its buttons, except that Enter in the input insists.
      this.#saveAndGo();
    } else if (event.key === 'Escape') this.cancel();
    else if (event.key === 'Tab' && !$('button', this.#box)) this.#next(event);
    // A letter in a checkbox or a select is no shortcut of the page.
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  }

  /** Goes to the next cell of the row that can be edited. @param {KeyboardEvent} event */
  async #next(event) {
    const fields = $$('td[data-field]', this.#row).map((cell) => cell.dataset.field);
    const field = fields[fields.indexOf(this.cell.dataset.field) + (event.shiftKey ? -1 : 1)];
    if (!field) return;
    event.preventDefault();
    if (await this.finish()) await edit(this.#row, field);
    else this.focus();
  }
}

/**
 * Requests a fragment of the page.
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<{ answer: DocumentFragment | null, problem: string }>}
 */
async function request(path, options) {
  const response = await fetch(path, { credentials: 'same-origin', ...options }).catch(() => null);
  if (!response) return { answer: null, problem: translate('The connection failed. Your input is not saved yet: try again.') };
  if (response.status === 401) return { answer: null, problem: translate('You are signed out. Sign in in another tab, then try again.') };
  const text = await response.text().catch(() => '');
  const made = document.createElement('template');
  if (response.headers.get('Content-Type')?.startsWith('text/html')) made.innerHTML = text;
  if (response.ok || $('form[data-cell]', made.content)) return { answer: made.content, problem: '' };
  let problem = translate('The request failed.');
  try { problem = JSON.parse(text).message; } catch { /* no JSON: a proxy answered */ }
  return { answer: null, problem };
}

/** @param {HTMLTableRowElement} row */
function focusRow(row) { $('[data-open]', row)?.focus({ preventScroll: true }); }

/** Waits until no cell is being saved; false if one could not be. */
async function settle() { return (await Promise.all([...editors].map((editor) => editor.saving ?? true))).every(Boolean); }

/**
 * Edits a cell of a row.
 * @param {HTMLTableRowElement} row
 * @param {string} field
 */
async function edit(row, field) {
  // A cell that is being saved replaces the row, and changes its version.
  await settle();
  // A refused cell stays open.
  const open = [...editors].find((editor) => editor.cell.dataset.field === field && editor.cell.parentElement === row);
  if (open) { open.focus(); return; }
  const link = $('[data-open]', row);
  if (!link || row.dataset.loading) return;
  row.dataset.loading = 'yes';
  const { answer, problem } = await request(`${new URL(link.href).pathname}/cell?field=${encodeURIComponent(field)}`);
  delete row.dataset.loading;
  const cell = $(`td[data-field="${field}"]`, row), form = answer && $('form[data-cell]', answer);
  if (problem || !form || !cell) showStatus(problem || translate('This cell cannot be edited.'));
  else new CellEditor(cell, form).focus();
}

// ---- Pointer. A first click on a cell waits for a second one before it opens the row; a click on a link does not.

const CONTROLS = 'a, button, input, label, select, summary, textarea';
let opening = 0;
/** True if cells were edited when the pointer went down: the focus has left them before the click. */
let wasEditing = false;

document.addEventListener('pointerdown', () => { wasEditing = editors.size > 0; }, true);

/** @param {MouseEvent} event */
function onClick(event) {
  const at = /** @type {Element} */ (event.target);
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const isLeaving = editors.size > 0 || wasEditing;
  wasEditing = false;
  const isInside = [...editors].some((editor) => editor.contains(at) || editor.cell.contains(at));
  if (!isInside) for (const editor of editors) editor.leave();
  const saving = [...editors].some((editor) => editor.saving);
  const control = /** @type {HTMLElement | null} */ (at.closest('a[href], button'));
  const row = /** @type {HTMLTableRowElement | null} */ (at.closest('tr[data-row]'));
  if (!isInside && saving && control) {
    // Another page would abort the save, and an error of it would not be seen.
    event.preventDefault();
    event.stopPropagation();
    settle().then((saved) => { if (saved) (control.isConnected ? control : row && $('[data-open]', row))?.click(); });
  } else if (row && !at.closest(CONTROLS) && (isLeaving || (event.detail && at.closest('td[data-field]')))) {
    event.preventDefault();
    clearTimeout(opening);
    if (!isLeaving && event.detail === 1 && !String(getSelection())) opening = window.setTimeout(() => $('[data-open]', row)?.click(), DOUBLE_CLICK);
  }
}

document.addEventListener('click', onClick, true);

document.addEventListener('dblclick', (event) => {
  const at = /** @type {Element} */ (event.target);
  const cell = /** @type {HTMLTableCellElement | null} */ (at.closest('td[data-field]'));
  if (!cell || at.closest(`${CONTROLS}, .cell`)) return;
  clearTimeout(opening);
  getSelection()?.removeAllRanges();
  edit(/** @type {HTMLTableRowElement} */ (cell.parentElement), cell.dataset.field ?? '');
});

// ---- Keyboard: F2 on the row that has the focus, or that `j` and `k` are at.

document.addEventListener('keydown', (event) => {
  const at = /** @type {Element} */ (event.target);
  if (event.key !== 'F2' || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || $('dialog[open]')) return;
  if (at.matches('input:not([type="checkbox"]), textarea, select')) return;
  const row = at.closest('tr[data-row]') ?? $('tr.at'), cell = row && $('td[data-field]:not(:has(> .cell))', row);
  if (!cell) return;
  event.preventDefault();
  edit(row, cell.dataset.field);
});

window.addEventListener('beforeunload', (event) => { if ([...editors].some((editor) => editor.isUnsaved)) event.preventDefault(); });
