// The text of `GET /_sandbox/confirm.js`, the browser's part of a confirmation. The script asks for no card number: the
// shopper chooses an outcome.

export const CONFIRM_SCRIPT = `// The sandbox's stand-in for the processor's script.
//   const processor = SandboxProcessor('pk_sandbox_...');
//   processor.mount(document.querySelector('#payment'), { debit: true });
//   const result = await processor.confirm(clientSecret);
//   // { status, chargeId, paymentId, error: null | { code, message } }
(() => {
  const origin = new URL(document.currentScript.src).origin;
  const CARDS = [
    ['succeed', 'Card', '4242 4242 4242 4242', 'Is charged at once'],
    ['requires_action', 'Card with 3-D Secure', '4000 0025 0000 3155', 'The bank asks the customer first'],
    ['bank_debit', 'Bank debit', 'DE89 3704 0044 0532 0130 00', 'Takes some days'],
    ['decline', 'Card that is declined', '4000 0000 0000 0002', 'Not enough money'],
  ];
  const STYLE = \`
    .sandbox-pay { border: 0; margin: 0; padding: 0; display: grid; gap: .5rem; min-width: 0 }
    .sandbox-pay legend { padding: 0; margin-bottom: .5rem; font-weight: 600 }
    .sandbox-pay label { display: grid; grid-template-columns: auto 1fr; gap: 0 .75rem; align-items: center; padding: .6rem .9rem;
      border: 1px solid color-mix(in srgb, currentColor 22%, transparent); border-radius: 10px; cursor: pointer; font-weight: 400 }
    .sandbox-pay label:has(:checked) { border-color: #4f46e5; box-shadow: inset 0 0 0 1px #4f46e5 }
    .sandbox-pay label:focus-within { outline: 3px solid color-mix(in srgb, #4f46e5 45%, transparent); outline-offset: 1px }
    .sandbox-pay input { margin: 0; width: 1.05rem; height: 1.05rem; accent-color: #4f46e5; grid-row: span 2 }
    .sandbox-pay small { grid-column: 2; opacity: .75 }
    .sandbox-pay code { font-size: .9em; white-space: nowrap }
    dialog.sandbox-3ds { border: 0; border-radius: 14px; padding: 1.5rem; max-width: 22rem; width: calc(100vw - 3rem); font: inherit;
      box-shadow: 0 20px 60px rgb(0 0 0 / .35) }
    dialog.sandbox-3ds::backdrop { background: rgb(15 18 30 / .55) }
    dialog.sandbox-3ds h2 { margin: 0 0 .5rem; font-size: 1.15rem }
    dialog.sandbox-3ds p { margin: 0 0 1.25rem }
    dialog.sandbox-3ds div { display: flex; gap: .75rem; flex-wrap: wrap }
    dialog.sandbox-3ds button { flex: 1; font: inherit; padding: .6rem 1rem; border-radius: 10px; cursor: pointer;
      border: 1px solid #4f46e5; background: transparent; color: inherit }
    dialog.sandbox-3ds button[value=approve] { background: #4f46e5; color: #fff }\`;

  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  /** The bank's window. True: the customer approved. */
  function askBank() {
    return new Promise((answered) => {
      const button = (value, text) => make('button', { value, textContent: text });
      const dialog = make('dialog', { className: 'sandbox-3ds' },
        make('h2', { textContent: 'Your bank asks' }),
        make('p', { textContent: 'Are you making this payment? (The sandbox plays the bank.)' }),
        make('form', { method: 'dialog' }, make('div', {}, button('approve', 'Approve'), button('refuse', 'Refuse'))));
      dialog.setAttribute('aria-label', '3-D Secure');
      dialog.addEventListener('close', () => {
        dialog.remove();
        answered(dialog.returnValue === 'approve');
      });
      document.body.append(dialog);
      dialog.showModal();
    });
  }

  window.SandboxProcessor = (publishableKey) => {
    let fieldset = null;

    async function send(clientSecret, outcome) {
      const intent = clientSecret.split('_secret_')[0];
      const body = { outcome, client_secret: clientSecret, publishable_key: publishableKey };
      const answer = await fetch(origin + '/_sandbox/intents/' + intent + '/confirm', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const said = await answer.json();
      if (answer.ok) return said;
      const message = (said.errors || []).map((e) => e.field + ': ' + e.message).join('; ') || said.code;
      return { status: 'failed', error: { code: said.code, message } };
    }

    return {
      /** Shows the ways to pay in this element; with debit, a bank debit too. */
      mount(element, { debit = false } = {}) {
        fieldset = make('fieldset', { className: 'sandbox-pay' }, make('legend', { textContent: 'Pay with' }));
        const offered = CARDS.filter(([value]) => debit || value !== 'bank_debit');
        offered.forEach(([value, name, number, about], n) => {
          const choice = make('input', { type: 'radio', name: 'sandbox-card', value, checked: n === 0 });
          const more = make('small', {}, make('code', { textContent: number }), ' · ' + about);
          fieldset.append(make('label', {}, choice, make('span', { textContent: name }), more));
        });
        element.replaceChildren(make('style', { textContent: STYLE }), fieldset);
      },
      /** Confirms the intent with the shopper's choice. */
      async confirm(clientSecret) {
        const chosen = fieldset.querySelector(':checked').value;
        let said = await send(clientSecret, chosen);
        if (said.status === 'requires_action') {
          const approved = await askBank();
          said = await send(clientSecret, approved ? 'succeed' : 'decline');
          if (!approved && said.error) said.error = { code: 'authentication_failed', message: 'The payment was not approved at the bank.' };
        }
        return { status: said.status, chargeId: said.charge_id, paymentId: said.payment_id, error: said.error || null };
      },
    };
  };
})();
`;
