// @ts-check
// <condition-list>: filter conditions of a list or a saved view: predicates and input of the chosen field, adding and removing conditions.

import { $, $$, checkbox, option, translate } from './page.js';
import { offerSuggestions } from './reference.js';

const fieldOf = (condition) => {
  const name = $('[data-field]', condition).value;
  return JSON.parse($('#filter-fields').textContent).find((one) => one.name === name);
};

/** Offers the predicates and the input of another field. */
function fitField(condition) {
  const field = fieldOf(condition);
  const predicate = $('[data-predicate]', condition);
  if (field) predicate.replaceChildren(...field.predicates.map(([name, label]) => option(name, label, predicate.value)));
  fitValue(condition);
}

/** The entered values, each with its title. */
function enteredValues(holder) {
  const filled = $$('[name]:not([data-word])', holder).filter((one) => one.value && (one.type !== 'checkbox' || one.checked));
  return filled.map((one) => {
    const title = one.closest('label')?.textContent.trim() ?? $('[role="combobox"]', one.closest('.reference') ?? one)?.value;
    return { value: one.value, title: title ?? one.value };
  });
}

/** Replaces the input of the value, unless the field and the way in which the predicate reads a value stay the same. */
function fitValue(condition) {
  const field = fieldOf(condition);
  const holder = $('[data-value]', condition);
  const [, , reads] = field?.predicates.find(([name]) => name === $('[data-predicate]', condition).value) ?? [];
  const of = `${field?.name ?? ''} ${reads ?? ''}`;
  if (holder.dataset.of === of) return;
  const isSameField = field && holder.dataset.of?.startsWith(`${field.name} `);
  // An id has no meaning for another field.
  const values = isSameField || !$('.reference', holder) ? enteredValues(holder) : [];
  holder.dataset.of = of;
  const fieldSelect = $('[data-field]', condition);
  const name = fieldSelect.name.replace(/field$/, 'value');
  const number = fieldSelect.getAttribute('aria-label').match(/\d+$/)?.[0] ?? '';
  const label = translate('Value of condition {number}', { number });
  if (reads === 'list' && (field.choices || field.titles)) {
    holder.replaceChildren(listInput(field, name, label, values));
    $$('input[data-titles]', holder).forEach(offerSuggestions);
    return;
  }
  const value = values.map((one) => one.value).join(',');
  let input;
  if (reads === 'value' && field.choices) {
    input = document.createElement('select');
    input.append(option('', '–', value), ...field.choices.map(([word, choiceLabel]) => option(word, choiceLabel, value)));
  } else {
    input = document.createElement('input');
    input.type = reads === 'switch' ? 'hidden' : 'text';
    if (reads === 'value' && !['text', 'number', 'reference'].includes(field.input)) {
      Object.assign(input, { type: field.input, step: '1' });
    }
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
  offerSuggestions(input);
  if (reads === 'value' && field?.words) holder.append(wordSelect(field, name, number));
}

/** Makes the select of the relative values of a field. */
function wordSelect(field, name, number) {
  const made = document.createElement('select');
  made.name = name.replace(/value$/, 'word');
  made.dataset.word = '';
  made.setAttribute('aria-label', translate('Relative value of condition {number}', { number }));
  made.append(option('', translate('Exact value'), ''), ...field.words.map(([word, wordLabel]) => option(word, wordLabel)));
  return made;
}

/** Clears the exact value when a relative one is chosen, and the other way around. */
function keepOneValue(changed) {
  const holder = changed.closest('[data-value]');
  const isWord = changed.matches('[data-word]');
  if (!changed.value) return;
  for (const other of $$(isWord ? 'input' : '[data-word]', holder)) other.value = '';
}

/** Makes a checkbox for each choice, or for each chosen record with an input to add another. */
function listInput(field, name, label, values) {
  const made = document.createElement('div');
  made.className = field.choices ? 'boxes' : 'several';
  made.role = 'group';
  made.setAttribute('aria-label', label);
  const isChosen = (word) => values.some((one) => one.value === word);
  if (field.choices) {
    made.append(...field.choices.map(([word, choiceLabel]) => checkbox(name, word, choiceLabel, isChosen(word))));
    return made;
  }
  made.dataset.several = '';
  const input = document.createElement('input');
  Object.assign(input, { type: 'text', name, autocomplete: 'off', placeholder: translate('Add another') });
  input.dataset.titles = field.titles;
  input.setAttribute('aria-label', label);
  made.append(...values.map((one) => checkbox(name, one.value, one.title, true)), input);
  return made;
}

/** Adds a blank condition at the end. */
function addCondition(form) {
  const rows = $$('[data-condition]', form);
  const made = rows.at(-1).cloneNode(true);
  const number = Math.max(...$$('[name^="f"]', form).map((one) => Number(one.name.match(/^f(\d+)\./)?.[1] ?? -1))) + 1;
  for (const element of $$('select[name]', made)) element.name = element.name.replace(/^f\d+/, `f${number}`);
  for (const element of $$('[aria-label]', made)) {
    element.setAttribute('aria-label', element.getAttribute('aria-label').replace(/\d+$/, number + 1));
  }
  const logic = $('[name$=".logic"]', made);
  logic.replaceChildren(option('and', translate('and'), 'and'), option('or', translate('or')), option('nand', translate('and not')), option('nor', translate('or not')));
  clear(made);
  rows.at(-1).after(made);
  $('[data-field]', made).focus();
}

/** Removes a condition; the only one is cleared instead. */
function removeCondition(condition) {
  const all = $$('[data-condition]', condition.closest('form')), at = all.indexOf(condition);
  const neighbor = all[at + 1] ?? all[at - 1];
  if (neighbor) condition.remove();
  else clear(condition);
  $('[data-field]', neighbor ?? condition).focus();
}

function clear(condition) {
  $('[data-field]', condition).value = '';
  $('[data-predicate]', condition).value = '';
  $('.error', condition)?.remove();
  const holder = $('[data-value]', condition);
  holder.replaceChildren();
  holder.dataset.of = '-';
  fitValue(condition);
}

class ConditionList extends HTMLElement {
  #form = /** @type {HTMLFormElement | null} */ (null);

  connectedCallback() {
    if (this.#form) return;
    this.#form = this.closest('form');
    this.addEventListener('change', ({ target }) => {
      const at = /** @type {Element} */ (target);
      if (at.matches('[data-field]')) fitField(at.closest('[data-condition]'));
      else if (at.matches('[data-predicate]')) fitValue(at.closest('[data-condition]'));
      else if (at.matches('[data-value] input, [data-word]')) keepOneValue(at);
    });
    // The button that adds a condition is below the list.
    this.#form?.addEventListener('click', ({ target }) => {
      const at = /** @type {Element} */ (target).closest('button');
      if (at?.matches('[data-add-condition]')) addCondition(this.#form);
      else if (at?.matches('[data-remove]')) removeCondition(at.closest('[data-condition]'));
    });
  }
}

customElements.define('condition-list', ConditionList);
