// Inputs of references: a combobox that suggests records by title and sends the id of the chosen one. Text that matches no record is
// sent as it is, so that the server reports an error instead of clearing the field.

import { $, $$, apiFetch, checkbox, showStatus } from './page.js';

/** Inputs whose text has no chosen record yet, each with the function that looks for one. */
const unresolved = new Map();

const isId = (text) => /^\d+$/.test(text);

/** A promise for the unresolved inputs of a form; null if there are none. */
export function resolveReferences(form) {
  const open = [...unresolved].filter(([input]) => input.form === form);
  return open.length ? Promise.all(open.map(([, resolve]) => resolve())) : null;
}

/** Turns the input of an id into a combobox. */
export function offerSuggestions(input) {
  if (!input.dataset.titles || input.type === 'hidden') return;
  const hidden = input.cloneNode();
  const holder = document.createElement('span');
  holder.className = 'reference';
  const list = document.createElement('ul');
  list.className = 'offered';
  list.role = 'listbox';
  list.id = `offered-${Math.random().toString(36).slice(2)}`;
  list.setAttribute('aria-label', 'Suggestions');
  list.hidden = true;
  hidden.type = 'hidden';
  for (const name of ['id', 'data-titles', 'data-titles-of', 'data-title', 'autofocus', 'aria-label']) hidden.removeAttribute(name);
  input.removeAttribute('name');
  input.removeAttribute('inputmode');
  input.type = 'text';
  if (input.dataset.title) input.value = input.dataset.title;
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-expanded', 'false');
  input.setAttribute('aria-autocomplete', 'list');
  input.setAttribute('aria-controls', list.id);
  const focused = document.activeElement === input;
  input.replaceWith(holder);
  holder.append(input, hidden, list);
  if (focused) input.focus();

  // The chosen record, the suggestions and the text that they are for, and the index of the highlighted one.
  let chosen = { id: hidden.value, title: input.value }, suggestions = [], searched = null, at = -1, timer;
  const typed = () => input.value.trim();
  const close = () => { list.hidden = true; at = -1; input.setAttribute('aria-expanded', 'false'); input.removeAttribute('aria-activedescendant'); };
  const setChosen = (one) => {
    clearTimeout(timer);
    unresolved.delete(input);
    chosen = one;
    hidden.value = one.id;
    input.value = one.title;
    close();
  };
  const choose = (one) => {
    const several = input.closest('[data-several]');
    setChosen(several ? { id: '', title: '' } : one);
    if (several) {
      const existing = $$('input[type="checkbox"]', several).find((other) => other.value === String(one.id));
      if (existing) existing.checked = true;
      else several.lastElementChild.before(checkbox(hidden.name, one.id, one.title, true));
    }
    hidden.dispatchEvent(new Event('change', { bubbles: true }));
  };
  const highlight = () => $$('li', list).forEach((item, index) => {
    item.setAttribute('aria-selected', String(index === at));
    if (index === at) { input.setAttribute('aria-activedescendant', item.id); item.scrollIntoView({ block: 'nearest' }); }
  });
  const searchUrl = () => (input.dataset.titlesOf
    ? JSON.parse(input.dataset.titles)[input.form.elements[input.dataset.titlesOf]?.value]
    : input.dataset.titles);
  const search = async () => {
    clearTimeout(timer);
    const text = typed(), url = searchUrl();
    if (!url) return;
    const response = await apiFetch(`${url}?q=${encodeURIComponent(text)}`).catch(() => null);
    const found = response?.ok ? await response.json() : null;
    if (!found || typed() !== text || searchUrl() !== url) return;
    suggestions = found;
    searched = text;
    list.replaceChildren(...suggestions.map((one, index) => {
      const item = document.createElement('li');
      item.role = 'option';
      item.id = `${list.id}-${index}`;
      item.textContent = one.title;
      item.addEventListener('mousedown', (event) => { event.preventDefault(); choose(one); });
      return item;
    }));
    at = text && suggestions.length ? 0 : -1;
    list.hidden = suggestions.length === 0 || document.activeElement !== input;
    input.setAttribute('aria-expanded', String(!list.hidden));
    if (text && !suggestions.length && !isId(text)) showStatus('Nothing found');
    highlight();
  };
  // Chooses the record whose title is the text, if there is exactly one.
  const resolve = async () => {
    const text = typed();
    if (searched !== text) await search();
    const same = searched === text ? suggestions.filter((one) => one.title.trim().toLowerCase() === text.toLowerCase()) : [];
    if (unresolved.has(input) && typed() === text && same.length === 1) choose(same[0]);
    unresolved.delete(input);
  };
  input.addEventListener('input', () => {
    const text = typed(), same = text === chosen.title.trim();
    // An id can be typed too.
    hidden.value = same ? chosen.id : text;
    if (!text || same || isId(text)) unresolved.delete(input);
    else unresolved.set(input, resolve);
    clearTimeout(timer);
    timer = setTimeout(search, 120);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' && list.hidden) { search(); event.preventDefault(); }
    else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !list.hidden) {
      at = (at + (event.key === 'ArrowDown' ? 1 : -1) + suggestions.length) % suggestions.length;
      highlight();
      event.preventDefault();
    } else if (event.key === 'Enter' && !list.hidden && at >= 0 && searched === typed()) { choose(suggestions[at]); event.preventDefault(); }
    else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey && unresolved.has(input) && searched !== typed()) {
      event.preventDefault();
      search().then(() => { if (at >= 0 && unresolved.has(input)) choose(suggestions[at]); });
    } else if (event.key === 'Escape' && !list.hidden) { close(); event.stopPropagation(); }
  });
  input.addEventListener('blur', () => {
    if (unresolved.has(input)) resolve();
    setTimeout(close, 150);
  });
  if (!input.dataset.titlesOf) return;
  // An id has no meaning for another type.
  const hint = () => { input.placeholder = input.form.elements[input.dataset.titlesOf]?.value ? '' : 'Choose the type first'; };
  input.form.addEventListener('change', (event) => {
    if (event.target.name !== input.dataset.titlesOf) return;
    setChosen({ id: '', title: '' });
    searched = null;
    hint();
  });
  hint();
}
