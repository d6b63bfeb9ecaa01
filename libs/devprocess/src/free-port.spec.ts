import { expect, it } from '@jest/globals';
import { freePort } from './managed-process.js';

/** Some ten of so many would be the same by chance. */
const PORTS = 500;

it('a port is given once, before its program listens, too', async () => {
  const ports = new Set<number>();
  for (let count = 0; count < PORTS; count += 1) ports.add(await freePort());
  expect(ports.size).toBe(PORTS);
});
