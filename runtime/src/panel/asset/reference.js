// References: searched as one types a title, stored by id. What was typed and is none is sent as it is, so that it is refused beside
// its field and never taken for nothing.

import { $, $$, ask, box, say } from './page.js';

/** Inputs with a text for which no record is chosen yet, each with what looks for one. */
const unsettled = new Map();

const isId = (text) => /^\d+$/.test(text);

/** Ends when nothing that is typed in a form is looked for any more; nothing where that is so already. */
export function settle(form) {
  const open = [...unsettled].filter(([input]) => input.form === form);
  return open.length ? Promise.all(open.map(([, settled]) => settled())) : null;
}

/** Makes the input of an id one of a title. */
export function offerTitles(input) {
  if (!input.dataset.titles || input.type === 'hidden') return;
  const kept = input.cloneNode();
  const holder = document.createElement('span');
  holder.className = 'reference';
  const list = document.createElement('ul');
  list.className = 'offered';
  list.role = 'listbox';
  list.id = `offered-${Math.random().toString(36).slice(2)}`;
  list.setAttribute('aria-label', 'Found');
  list.hidden = true;
  kept.type = 'hidden';
  for (const name of ['id', 'data-titles', 'data-titles-of', 'data-title', 'autofocus', 'aria-label']) kept.removeAttribute(name);
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
  holder.append(input, kept, list);
  if (focused) input.focus();

  // What is chosen, what was found for which text, and where one is in it.
  let last = { id: kept.value, title: input.value }, found = [], looked = null, at = -1, asking;
  const typed = () => input.value.trim();
  const close = () => { list.hidden = true; at = -1; input.setAttribute('aria-expanded', 'false'); input.removeAttribute('aria-activedescendant'); };
  const keep = (one) => {
    clearTimeout(asking);
    unsettled.delete(input);
    last = one;
    kept.value = one.id;
    input.value = one.title;
    close();
  };
  const choose = (one) => {
    const several = input.closest('[data-several]');
    keep(several ? { id: '', title: '' } : one);
    if (several) {
      const there = $$('input[type="checkbox"]', several).find((other) => other.value === String(one.id));
      if (there) there.checked = true;
      else several.lastElementChild.before(box(kept.name, one.id, one.title, true));
    }
    kept.dispatchEvent(new Event('change', { bubbles: true }));
  };
  const mark = () => $$('li', list).forEach((item, index) => {
    item.setAttribute('aria-selected', String(index === at));
    if (index === at) { input.setAttribute('aria-activedescendant', item.id); item.scrollIntoView({ block: 'nearest' }); }
  });
  const places = () => (input.dataset.titlesOf
    ? JSON.parse(input.dataset.titles)[input.form.elements[input.dataset.titlesOf]?.value]
    : input.dataset.titles);
  const look = async () => {
    clearTimeout(asking);
    const text = typed(), place = places();
    if (!place) return;
    const answer = await ask(`${place}?q=${encodeURIComponent(text)}`).catch(() => null);
    const offered = answer?.ok ? await answer.json() : null;
    if (!offered || typed() !== text || places() !== place) return;
    found = offered;
    looked = text;
    list.replaceChildren(...found.map((one, index) => {
      const item = document.createElement('li');
      item.role = 'option';
      item.id = `${list.id}-${index}`;
      item.textContent = one.title;
      item.addEventListener('mousedown', (event) => { event.preventDefault(); choose(one); });
      return item;
    }));
    at = text && found.length ? 0 : -1;
    list.hidden = found.length === 0 || document.activeElement !== input;
    input.setAttribute('aria-expanded', String(!list.hidden));
    if (text && !found.length && !isId(text)) say('Nothing found');
    mark();
  };
  // Without a choice there is one where exactly one title is what was typed.
  const settled = async () => {
    const text = typed();
    if (looked !== text) await look();
    const same = looked === text ? found.filter((one) => one.title.trim().toLowerCase() === text.toLowerCase()) : [];
    if (unsettled.has(input) && typed() === text && same.length === 1) choose(same[0]);
    unsettled.delete(input);
  };
  input.addEventListener('input', () => {
    const text = typed(), same = text === last.title.trim();
    // An id can be typed too.
    kept.value = same ? last.id : text;
    if (!text || same || isId(text)) unsettled.delete(input);
    else unsettled.set(input, settled);
    clearTimeout(asking);
    asking = setTimeout(look, 120);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' && list.hidden) { look(); event.preventDefault(); }
    else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !list.hidden) {
      at = (at + (event.key === 'ArrowDown' ? 1 : -1) + found.length) % found.length;
      mark();
      event.preventDefault();
    } else if (event.key === 'Enter' && !list.hidden && at >= 0 && looked === typed()) { choose(found[at]); event.preventDefault(); }
    else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey && unsettled.has(input) && looked !== typed()) {
      event.preventDefault();
      look().then(() => { if (at >= 0 && unsettled.has(input)) choose(found[at]); });
    } else if (event.key === 'Escape' && !list.hidden) { close(); event.stopPropagation(); }
  });
  input.addEventListener('blur', () => {
    if (unsettled.has(input)) settled();
    setTimeout(close, 150);
  });
  if (!input.dataset.titlesOf) return;
  // The id of one type is another record of the next.
  const hint = () => { input.placeholder = input.form.elements[input.dataset.titlesOf]?.value ? '' : 'Choose the type first'; };
  input.form.addEventListener('change', (event) => {
    if (event.target.name !== input.dataset.titlesOf) return;
    keep({ id: '', title: '' });
    looked = null;
    hint();
  });
  hint();
}
