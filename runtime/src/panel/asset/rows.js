// @ts-check
// <row-list>: rows of embedded records in a form. A new blank row is added as soon as the last one has input.

import { $, $$, translate } from './page.js';

class RowList extends HTMLElement {
  /** @type {HTMLElement | undefined} */ #blank;
  /** The index of the blank row in the names of its inputs, and that of the last row. */
  #first = 0;
  #number = 0;

  /** Runs before the pickers of the blank row are set up (this script is loaded first), because it clones the row. */
  connectedCallback() {
    if (this.#blank) return;
    this.#blank = this.#rows.at(-1)?.cloneNode(true);
    this.#first = this.#rows.length - 1;
    this.#number = this.#first;
    this.addEventListener('input', (event) => this.#addAfter(event.target));
    this.addEventListener('change', (event) => this.#addAfter(event.target));
    this.addEventListener('click', (event) => {
      const button = /** @type {Element} */ (event.target).closest('[data-remove-row]');
      if (button) this.#remove(button.closest('[data-embedded]'));
    });
  }

  get #rows() { return $$('[data-embedded]', this); }

  /** Adds a blank row if the last one has input. @param {EventTarget | null} target */
  #addAfter(target) {
    const last = this.#rows.at(-1);
    if (!last?.contains(target) || !this.#blank) return;
    const made = /** @type {HTMLElement} */ (this.#blank.cloneNode(true));
    this.#number += 1;
    for (const element of $$('*', made)) {
      for (const name of ['name', 'id', 'for', 'aria-describedby']) {
        const value = element.getAttribute(name);
        // The id of `participants[0][member_id]` is `field-participants-0-member_id`.
        if (value) element.setAttribute(name, value.replace(`[${this.#first}]`, `[${this.#number}]`).replace(`-${this.#first}-`, `-${this.#number}-`));
      }
    }
    const remove = document.createElement('button');
    Object.assign(remove, { type: 'button', className: 'quiet', textContent: translate('Remove') });
    remove.dataset.removeRow = '';
    last.append(remove);
    last.after(made);
  }

  /** Removes a row; the focus moves to its neighbor. @param {any} row */
  #remove(row) {
    const neighbor = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    if (neighbor) $('input:not([type="hidden"]), select, button', neighbor)?.focus();
    this.dispatchEvent(new Event('input', { bubbles: true }));
  }
}

customElements.define('row-list', RowList);
