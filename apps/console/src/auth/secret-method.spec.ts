import { expect, it } from '@jest/globals';
import { secretMethodOf } from './secret-method.js';

const [BASIC, POST] = ['client_secret_basic', 'client_secret_post'] as const;

it.each([
  [undefined, BASIC],
  [null, BASIC],
  [[], BASIC],
  [[BASIC], BASIC],
  [[POST], POST],
  [[POST, BASIC], BASIC],
  [['private_key_jwt', POST], POST],
  [['private_key_jwt', 'tls_client_auth'], BASIC],
])('an issuer that lists %p gets the secret by %s', (methods, expected) => {
  expect(secretMethodOf({ token_endpoint_auth_methods_supported: methods })).toBe(expected);
});
