// Logs a person in at the console, with an API key.

/** Returns the cookie of the session. @param key an API key of the daemon at this port */
export async function logIn(port: number, key: string): Promise<string> {
  const origin = `http://127.0.0.1:${port}`;
  const res = await fetch(`${origin}/console/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ key }).toString(),
  });
  const cookie = res.headers.getSetCookie().map((line) => line.split(';')[0]);
  if (res.status !== 303) throw new Error(`the login was answered ${res.status}`);
  return cookie.join('; ');
}
