// Where the merchant's backend may be, and what signs what it is told: a wrong setting is refused at start, without its value.
import { describe, expect, it } from '@jest/globals';
import { isForbiddenAddress, isPrivateAddress } from '../../../src/config/addresses.js';
import { SETTINGS } from '../../../src/config/index.js';
import { refusedAddress } from '../../../src/notifications/receiver.js';
import { newSecret } from '../../support/notify-receiver.js';

const problem = (text: string): string | null => {
  const parsed = SETTINGS.notifyUrl.parse(text);
  return parsed.ok ? null : parsed.problem;
};

describe('NOTIFY_URL', () => {
  it.each([
    'https://shop.example/hooks',
    'https://hooks.slack.com/services/T0/B0/xyz?x=1',
    'https://203.0.113.7/hook',
    'http://127.0.0.1:8080/hook',
    'http://localhost:8080/hook',
    'http://[::1]:8080/',
    'http://10.1.2.3/hook',
    'http://172.16.0.9/hook',
    'http://192.168.1.1/hook',
    'http://[fd12::7]/hook',
    'http://backend:3000/hook',
    'http://backend.internal/hook',
  ])('may be %s', (url) => {
    expect(problem(url)).toBeNull();
  });

  it.each(['http://shop.example/hook', 'http://203.0.113.7/hook', 'http://172.32.0.1/hook', 'http://8.8.8.8'])(
    'is refused as plain http on the public internet: %s',
    (url) => {
      expect(problem(url)).toContain('must be https');
      expect(problem(url)).not.toContain('hook,');
    },
  );

  it.each([
    'http://169.254.169.254/latest',
    'https://169.254.169.254/latest',
    'https://[fe80::1]/',
    'http://[fd00:ec2::254]/latest',
    'https://100.100.100.200/',
    'https://0.0.0.0/',
    'https://[::]/',
    'https://[::ffff:169.254.169.254]/',
    'https://224.0.0.1/',
  ])('is refused where a cloud gives its credentials away, or nobody is: %s', (url) => {
    expect(problem(url)).toContain('link-local');
  });

  it.each(['ftp://shop.example/', 'shop.example', 'https://user:pass@shop.example/', 'https://2852039166/', ''])(
    'is refused: %s',
    (url) => {
      expect(problem(url)).not.toBeNull();
    },
  );
});

describe('the address behind a receiver’s name', () => {
  it('is never link-local or a metadata service, whatever the scheme', () => {
    for (const address of ['169.254.169.254', 'fe80::1', 'fd00:ec2::254', '100.100.100.200', '::ffff:169.254.1.1']) {
      expect(isForbiddenAddress(address)).toBe(true);
      for (const plain of [true, false]) expect(refusedAddress(address, plain)).toContain('metadata');
    }
  });

  it('is private for plain http, and may be any for https', () => {
    expect(refusedAddress('203.0.113.7', true)).toContain('use https');
    expect(refusedAddress('203.0.113.7', false)).toBeNull();
    for (const address of ['10.0.0.1', '127.0.0.1', '::1', 'fd12::1', '::ffff:10.0.0.1']) {
      expect([address, isPrivateAddress(address), refusedAddress(address, true)]).toEqual([address, true, null]);
    }
  });
});

describe('NOTIFY_SECRETS', () => {
  const parse = (text: string) => SETTINGS.notifySecrets.parse(text);

  it('are whsec_ and 24 to 64 bytes in base64, the first one current', () => {
    const parsed = parse(`${newSecret(1)}, ${newSecret(2)}`);
    expect(parsed.ok && parsed.value.map((s) => s.reveal())).toEqual([newSecret(1), newSecret(2)]);
  });

  it.each([
    'whsec_AAAA',
    'secret',
    `whsec_${Buffer.alloc(23, 1).toString('base64')}`,
    `${newSecret(1)},abc`,
    'whsec_a b',
  ])('are refused, and not repeated: %s', (text) => {
    const parsed = parse(text);
    expect(parsed.ok).toBe(false);
    expect(!parsed.ok && parsed.problem).toContain('openssl rand -base64 32');
    expect(!parsed.ok && parsed.problem).not.toContain(text);
  });
});
