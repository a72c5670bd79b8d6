// The hosted page of a payment link for a person's browser: the amount due and a button to pay.

type Shown = {
  readonly id: string;
  readonly status: string;
  readonly amount: string;
  readonly currency: string;
  readonly returnUrl: string;
};

export function linkPage(link: Shown): Buffer {
  // The sandbox makes the id. The other values may contain anything, so they are escaped.
  const text = (value: string): string => value.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const payable = link.status === 'PAYABLE';
  return Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Payment link · sandbox</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem }
  main { width: min(24rem, 100%); box-sizing: border-box; padding: 2rem; border: 1px solid #8884; border-radius: 16px; text-align: center }
  strong { display: block; font-size: 2rem; margin: .5rem 0 1.5rem }
  button { font: inherit; width: 100%; padding: .75rem; border: 0; border-radius: 10px; background: #4f46e5; color: #fff; cursor: pointer }
</style>
</head>
<body>
<main>
  <h1 style="font-size: 1.1rem; margin: 0">${payable ? 'To pay' : `This link is ${text(link.status.toLowerCase())}`}</h1>
  <strong>${text(link.amount)} ${text(link.currency)}</strong>
  ${payable ? '<button type="button">Pay</button>' : ''}
  <p><a href="${text(link.returnUrl)}">Back to the shop</a></p>
  <p><small>The sandbox's page: no money moves.</small></p>
</main>
<script>
  document.querySelector('button')?.addEventListener('click', async (event) => {
    event.target.disabled = true;
    await fetch('/_sandbox/payment-links/${encodeURIComponent(link.id)}/pay', { method: 'POST' });
    location.href = document.querySelector('a').href;
  });
</script>
</body>
</html>
`);
}
