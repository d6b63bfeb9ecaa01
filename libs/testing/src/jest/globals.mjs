/**
 * Replaces `@jest/globals` in tests (node-runtime.mjs). A support file is loaded once and shared by test files, so each
 * call is forwarded to the functions of the test file that runs now.
 */
import { globals } from './node-runtime.mjs';

const current = (name) =>
  new Proxy(() => undefined, {
    apply: (_target, _this, args) => globals[name](...args),
    get: (_target, key) => globals[name][key],
  });

export const afterAll = current('afterAll');
export const afterEach = current('afterEach');
export const beforeAll = current('beforeAll');
export const beforeEach = current('beforeEach');
export const describe = current('describe');
export const expect = current('expect');
export const it = current('it');
