// The shop's page: the form, the processor's confirmation, and the account.
const LOOK_AGAIN_MS = 1000;
const $ = (selector) => document.querySelector(selector);
const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

async function ask(method, path, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) }).catch(() => {
    throw new Error('The shop does not answer.');
  });
  const said = answer.status === 202 ? {} : await answer.json();
  if (!answer.ok) throw new Error(said.message ?? 'Something went wrong.');
  return said;
}

const shop = await ask('GET', '/api/shop');
const money = (amount) =>
  new Intl.NumberFormat('en', { style: 'currency', currency: shop.currency }).format(amount / 100);
const day = (seconds) => new Intl.DateTimeFormat('en', { dateStyle: 'medium' }).format(seconds * 1000);

if (location.search === '?account') showAccount();
else await showForm();

async function showForm() {
  $('#buy').hidden = false;
  $('#trial-text').textContent = `Try it for ${shop.trialDays} days first; pay after that`;
  for (const [n, plan] of shop.plans.entries()) {
    const choice = make('input', { type: 'radio', name: 'plan', value: plan.id, checked: n === 1 });
    const price = make('strong', {}, money(plan.amount), make('small', {}, ' a month'));
    $('.plans').append(make('label', {}, choice, make('b', {}, plan.name), price, make('span', {}, plan.about)));
  }
  for (const [code, name] of Object.entries(shop.countries)) $('select').append(make('option', { value: code }, name));

  const processor = await loadProcessor();
  const form = $('#order');
  // A bank debit takes days, and Stripe voids a first invoice that is unpaid for 23 hours: debits are for trials.
  const offer = () => processor.mount($('#payment'), { debit: form.elements.trial.checked });
  offer();

  // One form, one order: another card, or another click after a failure, goes on with it. Other details are another order.
  let order = null;
  const startOver = () => (order = { id: crypto.randomUUID(), made: null, result: null });
  startOver();
  form.addEventListener('change', (event) => {
    if (event.target.name !== 'sandbox-card' && order.result === null) startOver();
    if (event.target.name === 'trial') offer();
    $('#pay').textContent = form.elements.trial.checked ? 'Start the trial' : 'Buy';
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    $('#pay').disabled = true;
    $('#problem').hidden = true;
    try {
      const { trial, ...fields } = Object.fromEntries(new FormData(form));
      order.made ??= await ask('POST', '/api/orders', { ...fields, id: order.id, trial: trial === 'on' });
      order.result ??= await confirmed(processor, order.made);
      const { chargeId, paymentId } = order.result;
      await ask('POST', `/api/orders/${order.id}/complete`, { chargeId, paymentId });
      location.assign('/?account');
    } catch (error) {
      const advice = order.result
        ? 'Your payment was taken: try again, it is not taken twice.'
        : 'Choose another way to pay, or try again.';
      $('#problem').textContent = `${error.message} ${advice}`;
      $('#problem').hidden = false;
      $('#pay').disabled = false;
    }
  });
}

async function loadProcessor() {
  await new Promise((loaded, failed) => {
    document.head.append(make('script', { src: shop.confirmScript, onload: loaded, onerror: failed }));
  });
  return window.SandboxProcessor(shop.publishableKey);
}

async function confirmed(processor, { clientSecret }) {
  const result = await processor.confirm(clientSecret);
  if (result.error) throw new Error(result.error.message);
  return result;
}

function showAccount() {
  $('#account').hidden = false;
  $('#change-method').addEventListener('click', () => changeMethod().catch(tellOfMethod));
  const look = async () => {
    try {
      draw(await ask('GET', '/api/me'));
    } finally {
      setTimeout(look, LOOK_AGAIN_MS);
    }
  };
  return look();
}

/** Another card: a setup is made when the customer saves it, and the same one is used until it is confirmed. */
async function changeMethod() {
  $('#change-method').disabled = true;
  const processor = await loadProcessor();
  processor.mount($('#new-payment'), { debit: false });
  $('#change-method').hidden = true;
  $('#method').hidden = false;
  const setup = { id: crypto.randomUUID(), made: null, result: null };
  $('#method').onsubmit = async (event) => {
    event.preventDefault();
    const button = $('#method button[type=submit]');
    button.disabled = true;
    $('#method-problem').hidden = true;
    try {
      setup.made ??= await ask('POST', '/api/payment-method', { id: setup.id });
      setup.result ??= await confirmed(processor, setup.made);
      await ask('POST', '/api/payment-method/confirmed', { setupIntentId: setup.made.setupIntentId });
      $('#method').hidden = true;
      $('#method-text').textContent = 'Your new card is saved. Open invoices are charged again now.';
    } catch (error) {
      tellOfMethod(error);
    } finally {
      button.disabled = false;
    }
  };
}

function tellOfMethod(error) {
  $('#method-problem').textContent = `${error.message} Choose another card, or try again.`;
  $('#method-problem').hidden = false;
  $('#change-method').disabled = false;
}

let drawn = null;
function draw(me) {
  if (drawn === JSON.stringify(me)) return;
  drawn = JSON.stringify(me);
  if (me.order === null) {
    $('#headline').textContent = 'Nothing here yet';
    $('#access').replaceChildren(make('a', { href: '/' }, 'Choose a plan'));
    for (const card of document.querySelectorAll('#account .card')) card.hidden = true;
    return;
  }
  const plan = shop.plans.find((p) => p.id === me.order.plan).name;
  const [newest] = me.invoices;
  const trialing = me.order.status === 'trialing';
  const words = {
    paid: trialing
      ? [
          `Your ${plan} trial has begun`,
          `Free until ${day(me.order.trialEnd)}. The card is saved and charged after that.`,
        ]
      : [`${plan} is yours`, 'Paid. Thank you!'],
    open: ['Your payment is on its way', 'A card takes seconds, a bank debit some days. This page follows it.'],
    failed: [
      'A payment did not go through',
      me.needsCard
        ? 'Your card was declined. Update your payment method below.'
        : 'Pay the open invoice below to keep your plan.',
    ],
    ended: [`${plan} has ended`, 'The money for it went back to you.'],
  };
  const [headline, access] = words[newest.state];
  $('#headline').textContent = headline;
  $('#access').textContent = access;
  $('#invoices').replaceChildren(...me.invoices.map(invoiceRow));
  const lines = me.told.map((t) => make('li', {}, make('code', {}, t.type), ` ${t.invoice ?? ''}`));
  $('#told').replaceChildren(...(lines.length > 0 ? lines : [make('li', { className: 'none' }, 'Nothing yet')]));
}

function invoiceRow(invoice) {
  const words = {
    paid: invoice.amount === 0 ? 'Free' : 'Paid',
    open: 'On its way',
    failed: 'Not paid',
    ended: 'Ended',
  };
  const state = make('span', { className: `state ${invoice.state}` }, words[invoice.state]);
  const about = make(
    'span',
    { className: 'small' },
    `${day(invoice.at)} · ${invoice.id} · ${invoice.stripe} on Stripe`,
  );
  const row = make('div', { className: 'invoice' }, make('strong', {}, money(invoice.amount)), state, about);
  if (invoice.state === 'failed') {
    const button = make('button', { type: 'button' }, 'Pay by link');
    button.addEventListener('click', async () => {
      button.disabled = true;
      try {
        location.assign((await ask('POST', `/api/invoices/${invoice.id}/payment-link`)).url);
      } catch (error) {
        button.disabled = false;
        row.append(make('p', { className: 'problem', role: 'alert' }, error.message));
      }
    });
    row.append(button);
  }
  return row;
}
