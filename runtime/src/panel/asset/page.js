// What each of the panel's scripts needs: finding elements, saying something, asking the API.

export const $ = (selector, within = document) => within.querySelector(selector);
export const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
export const token = $('meta[name="panel-token"]')?.content ?? '';

let saying;

/** Says something to everybody, screen readers included. */
export function say(text) {
  const said = $('#said');
  if (!said) return;
  said.textContent = text;
  clearTimeout(saying);
  saying = setTimeout(() => { said.textContent = ''; }, 5000);
}

/** A request to the API as the user who is signed in. */
export function ask(path, options = {}) {
  return fetch(path, { credentials: 'same-origin', ...options, headers: { 'X-Panel-Token': token, ...options.headers } });
}

/** A choice in a select. */
export function option(value, label, chosen) {
  const made = document.createElement('option');
  made.value = value;
  made.textContent = label;
  made.selected = value === chosen;
  return made;
}

/** A box with its label. */
export function box(name, value, label, checked) {
  const made = document.createElement('label');
  const input = document.createElement('input');
  made.className = 'box';
  Object.assign(input, { type: 'checkbox', name, value, checked });
  made.append(input, ` ${label}`);
  return made;
}
