// Rows of embedded records in a form: a new blank row is added as soon as the last one has input.

import { $$ } from './page.js';
import { offerSuggestions } from './reference.js';

/** Keeps a blank row at the end. Must run before the inputs of references are replaced, because it clones the blank row. */
export function offerRows(rows) {
  const blank = $$('[data-embedded]', rows).at(-1)?.cloneNode(true);
  if (!blank) return;
  let number = $$('[data-embedded]', rows).length - 1;
  const first = number;
  const addRow = (event) => {
    const last = $$('[data-embedded]', rows).at(-1);
    if (!last?.contains(event.target)) return;
    const made = blank.cloneNode(true);
    number += 1;
    for (const element of $$('*', made)) {
      for (const name of ['name', 'id', 'for', 'aria-describedby']) {
        const value = element.getAttribute(name);
        // The id of `participants[0][member_id]` is `field-participants-0-member_id`.
        if (value) element.setAttribute(name, value.replace(`[${first}]`, `[${number}]`).replace(`-${first}-`, `-${number}-`));
      }
    }
    const remove = document.createElement('button');
    Object.assign(remove, { type: 'button', className: 'quiet', textContent: 'Remove' });
    remove.dataset.removeRow = '';
    last.append(remove);
    last.after(made);
    $$('input[data-titles]', made).forEach(offerSuggestions);
  };
  rows.addEventListener('input', addRow);
  rows.addEventListener('change', addRow);
}
