// Conditions of a list or a saved view: for each field just its questions, with an input that fits.

import { $, $$, box, option } from './page.js';
import { offerTitles } from './reference.js';

const fieldOf = (condition) => {
  const name = $('[data-field]', condition).value;
  return JSON.parse($('#filter-fields').textContent).find((one) => one.name === name);
};

/** The questions of another field, and its input. */
export function fit(condition) {
  const field = fieldOf(condition);
  const asked = $('[data-predicate]', condition);
  if (field) asked.replaceChildren(...field.predicates.map(([name, label]) => option(name, label, asked.value)));
  fitValue(condition);
}

/** What a value is as it stands there, with what it is called. */
function held(holder) {
  const filled = $$('[name]', holder).filter((one) => one.value && (one.type !== 'checkbox' || one.checked));
  return filled.map((one) => {
    const title = one.closest('label')?.textContent.trim() ?? $('[role="combobox"]', one.closest('.reference') ?? one)?.value;
    return { value: one.value, title: title ?? one.value };
  });
}

/** The input of a question. One that is asked in the same way keeps its own. */
export function fitValue(condition) {
  const field = fieldOf(condition);
  const holder = $('[data-value]', condition);
  const [, , reads] = field?.predicates.find(([name]) => name === $('[data-predicate]', condition).value) ?? [];
  const of = `${field?.name ?? ''} ${reads ?? ''}`;
  if (holder.dataset.of === of) return;
  const same = field && holder.dataset.of?.startsWith(`${field.name} `);
  // An id means nothing to another field.
  const values = same || !$('.reference', holder) ? held(holder) : [];
  holder.dataset.of = of;
  const chooser = $('[data-field]', condition);
  const name = chooser.name.replace(/field$/, 'value');
  const label = chooser.getAttribute('aria-label').replace(/^Field/, 'Value');
  if (reads === 'list' && (field.choices || field.titles)) {
    holder.replaceChildren(several(field, name, label, values));
    $$('input[data-titles]', holder).forEach(offerTitles);
    return;
  }
  const value = values.map((one) => one.value).join(',');
  let input;
  if (reads === 'value' && field.choices) {
    input = document.createElement('select');
    input.append(option('', '–', value), ...field.choices.map(([word, called]) => option(word, called, value)));
  } else {
    input = document.createElement('input');
    input.type = reads === 'switch' ? 'hidden' : 'text';
    if (reads === 'value' && ['date', 'datetime-local'].includes(field.input)) input.type = field.input;
    input.value = reads === 'switch' ? '' : value;
    input.autocomplete = 'off';
    if (field?.input === 'number') input.inputMode = 'decimal';
    if (reads === 'value' && field.titles) {
      [input.value, input.dataset.title] = values.length ? [values[0].value, values[0].title] : ['', ''];
      input.dataset.titles = field.titles;
    }
  }
  input.name = name;
  input.setAttribute('aria-label', label);
  holder.replaceChildren(input);
  offerTitles(input);
}

/** A box for each choice, or for each record that is chosen, and an input for the next. */
function several(field, name, label, values) {
  const made = document.createElement('div');
  made.className = field.choices ? 'boxes' : 'several';
  made.role = 'group';
  made.setAttribute('aria-label', label);
  const is = (word) => values.some((one) => one.value === word);
  if (field.choices) {
    made.append(...field.choices.map(([word, called]) => box(name, word, called, is(word))));
    return made;
  }
  made.dataset.several = '';
  const input = document.createElement('input');
  Object.assign(input, { type: 'text', name, autocomplete: 'off', placeholder: 'Add another' });
  input.dataset.titles = field.titles;
  input.setAttribute('aria-label', label);
  made.append(...values.map((one) => box(name, one.value, one.title, true)), input);
  return made;
}

/** One more row, below those that are there. */
export function addCondition(form) {
  const rows = $$('[data-condition]', form);
  const made = rows.at(-1).cloneNode(true);
  const number = Math.max(...$$('[name^="f"]', form).map((one) => Number(one.name.match(/^f(\d+)\./)?.[1] ?? -1))) + 1;
  for (const element of $$('select[name]', made)) element.name = element.name.replace(/^f\d+/, `f${number}`);
  for (const element of $$('[aria-label]', made)) {
    element.setAttribute('aria-label', element.getAttribute('aria-label').replace(/\d+$/, number + 1));
  }
  const logic = $('[name$=".logic"]', made);
  logic.replaceChildren(option('and', 'and', 'and'), option('or', 'or'), option('nand', 'and not'), option('nor', 'or not'));
  empty(made);
  rows.at(-1).after(made);
  $('[data-field]', made).focus();
}

/** Takes a condition away; the last one is emptied. */
export function remove(condition) {
  const all = $$('[data-condition]', condition.closest('form')), at = all.indexOf(condition);
  const beside = all[at + 1] ?? all[at - 1];
  if (beside) condition.remove();
  else empty(condition);
  $('[data-field]', beside ?? condition).focus();
}

function empty(condition) {
  $('[data-field]', condition).value = '';
  $('[data-predicate]', condition).value = '';
  const holder = $('[data-value]', condition);
  holder.replaceChildren();
  holder.dataset.of = '-';
  fitValue(condition);
}
