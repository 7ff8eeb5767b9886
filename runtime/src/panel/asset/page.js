// @ts-check
// Helpers of the panel's scripts: element lookup, status messages, API requests.

/**
 * The first element of a selector; its type is that of the page, which the checker does not know.
 * @param {string} selector
 * @param {any} within
 * @returns {any}
 */
export const $ = (selector, within = document) => within.querySelector(selector);

/**
 * All elements of a selector.
 * @param {string} selector
 * @param {any} within
 * @returns {any[]}
 */
export const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

/** @type {string} */
export const csrfToken = $('meta[name="panel-token"]')?.content ?? '';

/**
 * A text in the language of the page, with values in braces: `translate('{count} selected', { count })`. English is the
 * key; a page in another language loads its texts before the modules.
 * @param {string} english
 * @param {Record<string, string | number>} [values]
 */
export function translate(english, values = {}) {
  const text = /** @type {any} */ (globalThis).panelTexts?.[english] ?? english;
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

let clearing = 0;

/**
 * Shows a status message for 5 seconds; screen readers announce it.
 * @param {string} text
 */
export function showStatus(text) {
  const status = $('#status');
  if (!status) return;
  status.textContent = text;
  clearTimeout(clearing);
  clearing = window.setTimeout(() => { status.textContent = ''; }, 5000);
}

/**
 * Sends a request as the signed-in user.
 * @param {string} path
 * @param {RequestInit} options
 */
export function apiFetch(path, options = {}) {
  return fetch(path, { credentials: 'same-origin', ...options, headers: { 'X-Panel-Token': csrfToken, ...options.headers } });
}

/**
 * Makes an option of a select.
 * @param {string} value
 * @param {string} label
 * @param {string} [chosen]
 */
export function option(value, label, chosen) {
  const made = document.createElement('option');
  made.value = value;
  made.textContent = label;
  made.selected = value === chosen;
  return made;
}

/**
 * Makes a labeled checkbox.
 * @param {string} name
 * @param {string | number} value
 * @param {string} label
 * @param {boolean} checked
 */
export function checkbox(name, value, label, checked) {
  const made = document.createElement('label');
  const input = document.createElement('input');
  made.className = 'box';
  Object.assign(input, { type: 'checkbox', name, value, checked });
  made.append(input, ` ${label}`);
  return made;
}
