// @ts-check
// <reference-picker>: an input of a reference as a combobox (ARIA Authoring Practices, combobox with a listbox popup), which sends the id
// of the chosen record. Text that matches no record is sent as it is, so that the server reports an error instead of clearing the field.

import { $$, apiFetch, checkbox, showStatus, translate } from './page.js';
import { openCreateForm } from './create.js';

/** @typedef {{ id: string | number, title: string, note?: string }} Suggestion */

/** Pickers whose text has no chosen record yet. @type {Set<ReferencePicker>} */
const unresolved = new Set();
let made = 0;

/** @param {string} text */
const isId = (text) => /^\d+$/.test(text);

/**
 * A promise for the unresolved pickers of a form; null if there are none.
 * @param {HTMLFormElement} form
 */
export function resolveReferences(form) {
  const open = [...unresolved].filter((picker) => picker.input.form === form);
  return open.length ? Promise.all(open.map((picker) => picker.resolve())) : null;
}

/**
 * Puts an input that a script made into a picker.
 * @param {HTMLInputElement | HTMLSelectElement} input
 */
export function offerSuggestions(input) {
  if (!input.dataset.titles || input.type === 'hidden' || input.closest('reference-picker')) return;
  const picker = document.createElement('reference-picker');
  picker.className = 'reference';
  const place = document.createComment('');
  input.replaceWith(place);
  // The picker looks for its input when it is connected.
  picker.append(input);
  place.replaceWith(picker);
}

/**
 * A button that the Tab key skips, because the keys of the input do the same.
 * @param {string} className
 * @param {string} label
 * @param {string} sign
 */
function signButton(className, label, sign) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: `sign ${className}`, tabIndex: -1, textContent: sign });
  button.setAttribute('aria-label', label);
  // The focus stays in the input.
  button.addEventListener('mousedown', (event) => event.preventDefault());
  return button;
}

export class ReferencePicker extends HTMLElement {
  /** @type {HTMLInputElement} */ input;
  /** The input with the value that is sent. @type {HTMLInputElement} */ #hidden;
  /** @type {HTMLUListElement | undefined} */ #list;
  /** @type {HTMLButtonElement} */ #clear;
  /** @type {HTMLAnchorElement} */ #open;
  /** @type {Suggestion[]} */ #suggestions = [];
  /** @type {Suggestion} */ #chosen = { id: '', title: '' };
  /** The text of the input that the list was opened for, and the text that was searched. */
  #shown = { text: '', query: '\0' };
  /** The index of the highlighted suggestion. */
  #at = -1;
  #timer = 0;
  #isChoosing = false;

  connectedCallback() {
    const input = /** @type {HTMLInputElement | null} */ (this.querySelector('input[data-titles]'));
    // Without the right to list the records, the input takes an id.
    if (this.#list || !input) return;
    this.input = input;
    this.#makeParts();
    this.#chosen = { id: this.#hidden.value, title: input.value };
    this.#showState();
    input.addEventListener('input', () => { if (!this.#isChoosing) this.#typed(); });
    input.addEventListener('keydown', (event) => this.#pressed(event));
    input.addEventListener('click', () => { if (!this.#isOpen) this.#browse(); });
    input.addEventListener('blur', () => {
      if (unresolved.has(this)) this.resolve();
      this.#close();
    });
    if (input.dataset.titlesOf) this.#followType();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
    unresolved.delete(this);
  }

  #makeParts() {
    const input = this.input;
    this.#hidden = this.#isValue ? input : this.#makeHidden();
    const list = document.createElement('ul');
    made += 1;
    Object.assign(list, { className: 'offered', id: `offered-${made}`, role: 'listbox', hidden: true });
    list.setAttribute('aria-label', translate('Suggestions'));
    list.addEventListener('mousedown', (event) => event.preventDefault());
    this.#list = list;
    input.type = 'text';
    if (input.dataset.title) input.value = input.dataset.title;
    const aria = { role: 'combobox', 'aria-expanded': 'false', 'aria-autocomplete': 'list', 'aria-haspopup': 'listbox', 'aria-controls': list.id };
    for (const [name, value] of Object.entries(aria)) input.setAttribute(name, value);
    this.#clear = signButton('clear', translate('Clear'), '×');
    this.#clear.addEventListener('click', () => { this.#choose({ id: '', title: '' }); input.focus(); });
    const chevron = signButton('chevron', translate('Show suggestions'), '▾');
    chevron.addEventListener('click', () => {
      input.focus();
      if (this.#isOpen) this.#close();
      else this.#browse();
    });
    this.#open = document.createElement('a');
    Object.assign(this.#open, { className: 'open', target: '_blank', rel: 'noopener', textContent: translate('Open'), hidden: true });
    if (!this.#isValue) this.append(this.#hidden);
    this.append(this.#clear, chevron, list, this.#open);
    this.#makeCreateButton();
  }

  /** The input of the id, which takes the name of the visible one. */
  #makeHidden() {
    const hidden = /** @type {HTMLInputElement} */ (this.input.cloneNode());
    hidden.type = 'hidden';
    for (const name of ['id', 'data-titles', 'data-titles-of', 'data-title', 'autofocus', 'aria-label', 'aria-describedby', 'aria-invalid', 'aria-required']) {
      hidden.removeAttribute(name);
    }
    for (const name of ['name', 'inputmode']) this.input.removeAttribute(name);
    return hidden;
  }

  #makeCreateButton() {
    const { create, createLabel = '' } = this.dataset;
    if (!create || this.closest('dialog')) return;
    const button = document.createElement('button');
    Object.assign(button, { type: 'button', className: 'link plain create', textContent: createLabel });
    button.addEventListener('click', () => openCreateForm(create, resolveReferences, async (id) => {
      const found = await apiFetch(this.#address(this.#url ?? '', 'id', id)).then((response) => response.json()).catch(() => []);
      this.#choose(found[0] ?? { id, title: id });
      this.input.focus();
    }));
    this.append(button);
  }

  /** The suggestions of a polymorphic reference depend on the chosen type. An id has no meaning for another type. */
  #followType() {
    const { input } = this;
    const type = () => /** @type {HTMLSelectElement | null} */ (input.form?.elements.namedItem(input.dataset.titlesOf ?? ''));
    const hint = () => { input.placeholder = type()?.value ? '' : translate('Choose the type first'); };
    input.form?.addEventListener('change', (event) => {
      if (event.target !== type()) return;
      this.#setChosen({ id: '', title: '' });
      this.#shown = { text: '', query: '\0' };
      hint();
    });
    hint();
  }

  /** The text of the input is the value, as of a currency, and not the title of a record. */
  get #isValue() { return 'value' in this.dataset; }

  get #isOpen() { return !this.#list?.hidden; }

  get #text() { return this.input.value.trim(); }

  /** @returns {string | undefined} */
  get #url() {
    const { titles = '', titlesOf } = this.input.dataset;
    if (!titlesOf) return titles;
    const type = /** @type {HTMLSelectElement | null} */ (this.input.form?.elements.namedItem(titlesOf));
    return JSON.parse(titles)[type?.value ?? ''];
  }

  /** @param {string} url @param {string} name @param {string} value */
  #address(url, name, value) {
    return `${url}${url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
  }

  #close() {
    if (!this.#list) return;
    this.#list.hidden = true;
    this.#at = -1;
    this.input.setAttribute('aria-expanded', 'false');
    this.input.removeAttribute('aria-activedescendant');
  }

  #showState() {
    const { page } = this.dataset;
    this.#clear.hidden = !this.input.value;
    this.#open.hidden = !page || !isId(String(this.#chosen.id)) || this.#text !== this.#chosen.title.trim();
    if (this.#open.hidden) return;
    this.#open.href = `${page}/${this.#chosen.id}`;
    this.#open.setAttribute('aria-label', translate('Open {name}', { name: this.#chosen.title }));
  }

  /** @param {Suggestion} one */
  #setChosen(one) {
    clearTimeout(this.#timer);
    unresolved.delete(this);
    this.#chosen = one;
    this.#hidden.value = String(one.id);
    this.input.value = one.title;
    this.#close();
    this.#showState();
  }

  /** Chooses a record; in an input of several, it gets a checkbox. @param {Suggestion} one */
  #choose(one) {
    const several = /** @type {HTMLElement | null} */ (this.closest('[data-several]'));
    this.#setChosen(several ? { id: '', title: '' } : one);
    if (several && one.id !== '') {
      const existing = $$('input[type="checkbox"]', several).find((other) => other.value === String(one.id));
      if (existing) existing.checked = true;
      else this.before(checkbox(this.#hidden.name, one.id, one.title, true));
    }
    this.#isChoosing = true;
    for (const kind of ['input', 'change']) this.#hidden.dispatchEvent(new Event(kind, { bubbles: true }));
    this.#isChoosing = false;
  }

  #highlight() {
    this.input.removeAttribute('aria-activedescendant');
    $$('li', this.#list).forEach((item, index) => {
      item.setAttribute('aria-selected', String(index === this.#at));
      if (index !== this.#at) return;
      this.input.setAttribute('aria-activedescendant', item.id);
      item.scrollIntoView({ block: 'nearest' });
    });
  }

  /** Opens the list with all records if the text is that of the chosen one. */
  #browse() {
    return this.#search(this.#text === this.#chosen.title.trim() ? '' : this.#text);
  }

  /** @param {string} query */
  async #search(query) {
    clearTimeout(this.#timer);
    const text = this.#text, url = this.#url;
    if (!url) return;
    const response = await apiFetch(this.#address(url, 'q', query)).catch(() => null);
    const found = response?.ok ? await response.json() : null;
    if (!found || this.#text !== text || this.#url !== url || !this.#list) return;
    this.#suggestions = found;
    this.#shown = { text, query };
    this.#list.replaceChildren(...this.#suggestions.map((one, index) => this.#item(one, index)));
    this.#at = query && found.length ? 0 : this.#suggestions.findIndex((one) => text !== '' && String(one.id) === String(this.#chosen.id));
    this.#list.hidden = found.length === 0 || document.activeElement !== this.input;
    this.input.setAttribute('aria-expanded', String(this.#isOpen));
    if (!found.length && !isId(text)) showStatus(translate('Nothing found'));
    this.#highlight();
  }

  /** @param {Suggestion} one @param {number} index */
  #item(one, index) {
    const item = document.createElement('li');
    Object.assign(item, { role: 'option', id: `${this.#list?.id}-${index}`, textContent: one.title });
    if (one.note) {
      const note = document.createElement('small');
      note.textContent = one.note;
      item.append(note);
    }
    item.addEventListener('click', () => this.#choose(one));
    return item;
  }

  /** Chooses the record whose title is the text, if there is exactly one. */
  async resolve() {
    const text = this.#text;
    const isSearched = () => this.#shown.text === text && this.#shown.query === text;
    if (!isSearched()) await this.#search(text);
    const same = isSearched() ? this.#suggestions.filter((one) => one.title.trim().toLowerCase() === text.toLowerCase()) : [];
    if (unresolved.has(this) && this.#text === text && same.length === 1) this.#choose(same[0]);
    unresolved.delete(this);
  }

  #typed() {
    const text = this.#text, same = text === this.#chosen.title.trim();
    // An id can be typed too.
    if (!this.#isValue) this.#hidden.value = same ? String(this.#chosen.id) : text;
    if (!text || same || this.#isValue || isId(text)) unresolved.delete(this);
    else unresolved.add(this);
    this.#showState();
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#search(this.#text), 120);
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isFitting = this.#shown.text === this.#text;
    if (step && !this.#isOpen) {
      event.preventDefault();
      this.#browse().then(() => {
        if (this.#at < 0 && this.#suggestions.length && !event.altKey) { this.#at = step > 0 ? 0 : this.#suggestions.length - 1; this.#highlight(); }
      });
    } else if (step) {
      event.preventDefault();
      if (event.altKey && step < 0) { this.#close(); return; }
      const count = this.#suggestions.length;
      this.#at = this.#at < 0 && step < 0 ? count - 1 : (this.#at + step + count) % count;
      this.#highlight();
    } else if (event.key === 'Enter' && this.#isOpen && this.#at >= 0 && isFitting) {
      event.preventDefault();
      this.#choose(this.#suggestions[this.#at]);
    } else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey && unresolved.has(this) && !isFitting) {
      event.preventDefault();
      this.#search(this.#text).then(() => { if (this.#at >= 0 && unresolved.has(this)) this.#choose(this.#suggestions[this.#at]); });
    } else if (event.key === 'Escape' && this.#isOpen) {
      this.#close();
      // The dialog around the input stays open.
      event.preventDefault();
      event.stopPropagation();
    }
  }
}

customElements.define('reference-picker', ReferencePicker);
