// Helpers of the panel's scripts: element lookup, status messages, API requests.

export const $ = (selector, within = document) => within.querySelector(selector);
export const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
export const csrfToken = $('meta[name="panel-token"]')?.content ?? '';

let clearing;

/** Shows a status message for 5 seconds; screen readers announce it. */
export function showStatus(text) {
  const status = $('#status');
  if (!status) return;
  status.textContent = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => { status.textContent = ''; }, 5000);
}

/** Sends a request as the signed-in user. */
export function apiFetch(path, options = {}) {
  return fetch(path, { credentials: 'same-origin', ...options, headers: { 'X-Panel-Token': csrfToken, ...options.headers } });
}

/** Makes an option of a select. */
export function option(value, label, chosen) {
  const made = document.createElement('option');
  made.value = value;
  made.textContent = label;
  made.selected = value === chosen;
  return made;
}

/** Makes a labeled checkbox. */
export function checkbox(name, value, label, checked) {
  const made = document.createElement('label');
  const input = document.createElement('input');
  made.className = 'box';
  Object.assign(input, { type: 'checkbox', name, value, checked });
  made.append(input, ` ${label}`);
  return made;
}
