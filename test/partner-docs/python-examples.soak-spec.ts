/** Tests the Python examples for sealed days and webhooks on data from the product's own code. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type Address, addressBytes, buildDayTree, DayListBuilder } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { mintWebhookSecret } from '#libs/signing';
import { aWallet } from '#libs/testing/database';

const folder = mkdtempSync(join(tmpdir(), 'python-examples-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function python(example: string, file: object): { status: number | null; output: string } {
  const path = join(folder, 'file.json');
  writeFileSync(path, JSON.stringify(file));
  const program = resolve('docs/partners/examples', example);
  const { status, stdout, stderr } = spawnSync('python3', ['-B', program, path], {
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

describe('proof.py', () => {
  it.each([0, 1, 2, 7])('checks the proofs and the list of %i wallets', async (count) => {
    const builder = new DayListBuilder();
    const list = Array.from({ length: count }, (_, place) => ({
      walletAddress: aWallet(2 * place + 1),
      low: String(10n ** 18n * BigInt(place + 1)),
    }));
    for (const { walletAddress, low } of list)
      builder.add(addressBytes(walletAddress), BigInt(low));
    const tree = buildDayTree(builder.list(), await createKeccak256());
    const proofOf = (walletAddress: Address) => {
      const { leaf, proof } = tree.prove(walletAddress);
      const low = leaf.wallet === walletAddress ? leaf.low : 0n;
      return { walletAddress, low: String(low), leaf: { ...leaf, low: String(leaf.low) }, proof };
    };
    const proofs = Array.from({ length: 2 * count + 2 }, (_, place) => proofOf(aWallet(place + 1)));
    const file = { root: tree.root, list, proofs };
    expect(python('proof.py', file)).toEqual({
      status: 0,
      output: `${proofs.length} proofs and a list of ${count} checked, 0 wrong\n`,
    });
    const other = { ...file, root: `0x${'1'.repeat(64)}` };
    expect(python('proof.py', other)).toMatchObject({
      status: 1,
      output: expect.stringContaining(`${proofs.length + 1} wrong`),
    });
    const [first] = proofs;
    const claimed = { ...file, proofs: [{ ...first, low: '5' }] };
    expect(python('proof.py', claimed).output).toContain(`WRONG  ${first?.walletAddress}`);
  });
});

describe('verify-webhook.py', () => {
  const at = new Date('2026-11-21T00:13:02Z');
  const now = at.getTime() / 1000;
  const [id, body] = ['msg_019aa6329d7b7c019b2f5b0f6f1a2c3d', '{"data":{},"type":"webhook.test"}'];
  const secret = mintWebhookSecret();
  const signature = new Webhook(secret).sign(id, at, body);
  const good = { id, timestamp: String(now), signature, body, secret, now };

  it('verifies what is signed, by one of several secrets too', () => {
    const rotated = { ...good, signature: `v1,AAAA ${signature}` };
    for (const one of [good, rotated]) {
      expect(python('verify-webhook.py', one)).toEqual({ status: 0, output: 'verified\n' });
    }
  });

  it.each([
    ['another body', { body: `${body} ` }],
    ['another id', { id: `${id}0` }],
    ['an old event', { now: now + 301 }],
    ['another time', { timestamp: String(now + 1) }],
    ['another secret', { secret: mintWebhookSecret() }],
    ['no time', { timestamp: '' }],
    ['no signature', { signature: '' }],
  ])('refuses %s', (_, change) => {
    const refused = python('verify-webhook.py', { ...good, ...change });
    expect(refused).toEqual({ status: 1, output: 'WRONG\n' });
  });
});
