// @ts-check
// The row of a list that the keyboard is at: j and k move it, other keys act on it.

import { $, $$ } from './page.js';

export const rows = () => $$('[data-row]');

/** The row that has the focus, or the one that j and k moved to. */
export function currentRow() {
  const all = rows();
  return all.find((row) => row.contains(document.activeElement)) ?? all.find((row) => row.matches('.at')) ?? null;
}

/** Marks a row, scrolls to it, and focuses its link. @param {HTMLElement} row */
export function moveTo(row) {
  for (const one of rows()) one.classList.toggle('at', one === row);
  row.scrollIntoView({ block: 'nearest' });
  $('[data-open]', row)?.focus({ preventScroll: true });
}

/** Moves by a number of rows. @param {number} step */
export function moveBy(step) {
  const all = rows();
  if (all.length) moveTo(all[Math.min(Math.max(all.indexOf(currentRow()) + step, 0), all.length - 1)]);
}
