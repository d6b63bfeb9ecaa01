import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { aWallet } from '#libs/testing';
import { runCli } from './cli.js';

it('plan-sync says what it asks while an endpoint does not answer', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  let [out, err] = ['', ''];
  const code = await new Promise<number>((resolve, reject) => {
    const terminal = {
      out: (text: string) => void (out += text),
      err: (text: string) => {
        err += text;
        // The first line names the request. The endpoint closes then, so that the command ends.
        silent.close();
        silent.closeAllConnections();
      },
    };
    runCli(['plan-sync'], terminal, () => ({
      RPC_URLS: `http://127.0.0.1:${port}/key-never-to-be-seen`,
      CHAIN_ID: '5',
      STAKE_CONTRACT: aWallet(1),
      STAKE_START_BLOCK: '1',
    })).then(resolve, reject);
  });
  const [first] = err.split('\n');
  expect(first).toBe(`Asking 127.0.0.1:${port}#1 which chain they serve…`);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).not.toContain('never-to-be-seen');
});
