// @ts-check
// Passkeys: a form asks the browser for one, and sends what the browser answers.

import { $, translate } from './page.js';

const isSupported = Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON);

/** Sign-in gets new options for each attempt; the page of a creation has them. */
async function optionsOf(form) {
  if (form.dataset.passkey === 'create') return JSON.parse(form.dataset.options);
  const response = await fetch(form.dataset.options, { headers: { Accept: 'application/json' } });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  form.elements.ceremony.value = answer.ceremony;
  return answer.options;
}

function ask(form, options) {
  if (form.dataset.passkey === 'create') {
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  }
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

function explain(error) {
  if (error.name === 'NotAllowedError') return translate('The browser did not get a passkey: it was canceled or took too long.');
  if (error.name === 'InvalidStateError') return translate('This device already has a passkey for your account.');
  return error.message;
}

async function run(form) {
  const problem = $('[data-problem]', form);
  problem.hidden = true;
  try {
    const credential = /** @type {any} */ (await ask(form, await optionsOf(form)));
    form.elements.credential.value = JSON.stringify(credential.toJSON());
    // Without the event, which would begin again.
    form.submit();
  } catch (error) {
    problem.textContent = explain(error);
    problem.hidden = false;
  }
}

/** Makes the form of a passkey usable, or says that this browser has none. */
export function offerPasskey(form) {
  if (!isSupported) {
    const problem = $('[data-problem]', form);
    problem.textContent = translate('This browser does not support passkeys.');
    problem.hidden = false;
    return;
  }
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    event.stopPropagation();
    run(form);
  });
}
