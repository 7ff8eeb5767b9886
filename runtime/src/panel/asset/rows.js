// Rows of a form: as soon as the blank one is begun there is another, so that any number is saved at once.

import { $$ } from './page.js';
import { offerTitles } from './reference.js';

/** Keeps a blank row at the end of these. Called before anything in them is made another input. */
export function offerRows(rows) {
  const blank = $$('[data-embedded]', rows).at(-1)?.cloneNode(true);
  if (!blank) return;
  let number = $$('[data-embedded]', rows).length - 1;
  const first = number;
  const begun = (event) => {
    const last = $$('[data-embedded]', rows).at(-1);
    if (!last?.contains(event.target)) return;
    const made = blank.cloneNode(true);
    number += 1;
    for (const element of $$('*', made)) {
      for (const name of ['name', 'id', 'for', 'aria-describedby']) {
        const value = element.getAttribute(name);
        // `participants[0][member_id]` is called `field-participants-0-member_id`.
        if (value) element.setAttribute(name, value.replace(`[${first}]`, `[${number}]`).replace(`-${first}-`, `-${number}-`));
      }
    }
    const remove = document.createElement('button');
    Object.assign(remove, { type: 'button', className: 'quiet', textContent: 'Remove' });
    remove.dataset.removeRow = '';
    last.append(remove);
    last.after(made);
    $$('input[data-titles]', made).forEach(offerTitles);
  };
  rows.addEventListener('input', begun);
  rows.addEventListener('change', begun);
}
