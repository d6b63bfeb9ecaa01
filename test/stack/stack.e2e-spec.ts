import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '#libs/testing/clock';
import { freePort } from '#libs/devprocess';
import { typeStackCommands } from './stack-commands.js';
import { redemptionsOf, rpc } from './redeemer.js';
import { RunningStack, STACK_PORTS, type StackFacts } from './running-stack.js';

const CLI = resolve('dist/apps/cli/src/main.js');

/**
 * Tests the whole system by its one command. The tests depend on each other: each starts the stack in the same
 * directory.
 */
describe('npm start', () => {
  let directory: string;
  const environment: Record<string, string> = { VOUCHER_TTL_SECONDS: '10' };
  let stack: RunningStack | undefined;
  let first: StackFacts;
  let oldBlock: unknown;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lowmark-stack-'));
    for (const name of STACK_PORTS) environment[name] = String(await freePort());
  });
  afterAll(async () => {
    await stack?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const start = (...args: string[]) =>
    (stack = RunningStack.start(directory, environment, ...args));

  it('ends as after a Ctrl-C when npm is ended by its process id, and with it the shell that is its parent', async () => {
    // The command line that npm uses. The second command keeps the shell from replacing itself with the program.
    const script = `'${process.execPath}' '${resolve(RunningStack.PROGRAM)}'; exit $?`;
    const shell = spawn('sh', ['-c', script], {
      cwd: directory,
      env: { ...process.env, ...environment, npm_lifecycle_event: 'start' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    shell.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
      // The database is half made then, and the next test starts from there.
      if (output.includes('plays six weeks')) shell.kill('SIGTERM');
    });
    // The pipe closes when the last process with an open end of it has ended.
    await once(shell, 'close');
    expect(shell.signalCode).toBe('SIGTERM');
    expect(output).toContain('has ended; npm start goes on from here');
  });

  it('brings everything up after that, and shows a request whose answer verifies', async () => {
    const running = start();
    await running.shows();
    expect(running.output).toContain('X-API-SIGNATURE verified');
    first = await running.facts();
    expect((await stat(join(directory, '.data/stack.json'))).mode & 0o777).toBe(0o600);

    const [, key = '', url = ''] = /-H 'X-API-KEY: (\S+)' '(\S+)'/.exec(running.output) ?? [];
    const answer = await fetch(url, { headers: { 'X-API-KEY': key } });
    const body = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('X-API-SIGNATURE')).toBe(
      createHmac('sha256', first.partner.sharedSecret)
        .update(`GET/api/staking/snapshots${body}`)
        .digest('hex'),
    );
    const { stakingSnapshots, stakeContract } = JSON.parse(body) as Record<string, unknown>;
    expect(stakingSnapshots).toHaveLength(7);
    expect(stakeContract).toBe(first.stakeContract);
    oldBlock = await rpc(first, 'eth_getBlockByNumber', '0x200', true);
    expect(Number(await rpc(first, 'eth_blockNumber'))).toBeGreaterThan(1_000);
    for (const service of servicesOf(first)) {
      expect((await fetch(`${service}/health/ready`)).status).toBe(200);
    }
  });

  it('shows three links: to the players’ page, and two that are good once', async () => {
    const shown = stack?.output ?? '';
    const { consoleUrl } = first;
    expect(shown).toContain(`Players    ${consoleUrl}/redeem (the test wallet has points)\n`);
    const [, token = ''] = /Operators  \S+\/sign-in\/link#(\S+) /.exec(shown) ?? [];
    const signIn = async () =>
      fetch(`${consoleUrl}/api/auth/link`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-csrf-token': 'before a session any',
          origin: consoleUrl,
        },
        body: JSON.stringify({ token }),
      });
    expect((await signIn()).status).toBe(200);
    expect((await signIn()).status).toBe(403);
    expect(shown).toMatch(/Partner    \S+\/partner\/invitation#\S{32,} /);
    for (const log of await logsOf(directory)) expect(log).not.toContain(token);
  });

  it('is in order to the doctor, the signer of its vault too, whose key is not shown', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [CLI, 'doctor'], {
      cwd: directory,
    });
    expect(stdout).not.toContain('FAULT');
    expect(stdout).toMatch(/^ok +vault: signer +0x[0-9a-f]{40} holds SIGNER_ROLE/m);
    expect(stdout).toMatch(/^ok +vault: canceller +0x[0-9a-f]{40} holds CANCELLER_ROLE/m);
    for (const secret of [first.voucherSignerKey.slice(2), first.secretsKey]) {
      expect(stdout).not.toContain(secret);
    }
  });

  it('shows how points become tokens, and how they come back', async () => {
    const running = stack;
    if (!running) throw new Error('nothing runs');
    await running.demonstrates();
    const [, one = '', two = ''] = running.output.split(/ {2}Redemption \d: /);
    expect(stagesOf(one)).toEqual([
      ...['signed in', 'points', 'created', 'authorised', 'sent', 'mined', 'claimed'],
      ...['confirmed', 'tokens', 'points'],
    ]);
    expect(one).toMatch(/created +5,000 points for 340 tokens at 0.15 USD/);
    expect(one).toMatch(/claimed +the claim is final: (0x[0-9a-f]{64})$/m);
    expect(one).toMatch(/tokens +the wallet has 340 tokens more/);
    expect(pointsOf(one)).toEqual([1_000_000, 995_000]);
    expect(stagesOf(two)).toEqual([
      ...['signed in', 'points', 'created', 'authorised', 'points', 'expired', 'reverted'],
      ...['confirmed', 'points'],
    ]);
    expect(pointsOf(two)).toEqual([1_000_000, 995_000, 1_000_000]);
  });

  it('has both outcomes in its books, and the tokens moved on the chain', async () => {
    const wallets = (await rpc(first, 'eth_accounts')) as string[];
    const [claimed, reverted] = await Promise.all(
      wallets.slice(41, 43).map((wallet) => redemptionsOf(first, wallet)),
    );
    expect(claimed).toEqual([expect.objectContaining({ status: 'claimed', tokens: 340 })]);
    expect(reverted).toEqual([expect.objectContaining({ status: 'reverted', txnHash: null })]);
    const { txnHash } = claimed?.[0] ?? {};
    const receipt = await rpc(first, 'eth_getTransactionReceipt', txnHash);
    expect(receipt).toMatchObject({ status: '0x1', to: first.vaultContract });
  });

  it('answers the commands of the pages as they say', async () => {
    const { output, status } = await typeStackCommands(stack?.output ?? '');
    expect(status).toBe('claimed');
    const [, sent] = /x-api-signature: (\w+)/i.exec(output) ?? [];
    expect(sent).toMatch(/^[0-9a-f]{64}$/);
    expect(output).toContain(`= ${sent ?? ''}`);
    expect(output).toContain('"tokens":340');
  });

  it('publishes days of its history in a registry', async () => {
    const status = async (): Promise<string> => {
      const args = [CLI, 'registry', 'status', '--json'];
      return (await promisify(execFile)(process.execPath, args, { cwd: directory })).stdout;
    };
    const published = async () => {
      const { publications } = JSON.parse(await status()) as {
        publications: readonly { readonly status: string }[];
      };
      return publications.filter(({ status }) => ['mined', 'final'].includes(status)).length;
    };
    await eventually(async () => (await published()) >= 2, { withinMs: 120_000, everyMs: 2_000 });
  });

  it('keeps its secrets from the screen and the logs', async () => {
    const { voucherSignerKey, secretsKey, partnerCallback, partner } = first;
    const secrets = [voucherSignerKey, voucherSignerKey.slice(2), secretsKey];
    const shown = stack?.output ?? '';
    for (const secret of [...secrets, partnerCallback.secret]) expect(shown).not.toContain(secret);
    const logs = (await logsOf(directory)).join('');
    for (const secret of [...secrets, partnerCallback.secret, partner.sharedSecret]) {
      expect(logs).not.toContain(secret);
    }
  });

  it('does not run twice in one clone', async () => {
    const second = RunningStack.start(directory, environment);
    expect(await second.ended).toBe(1);
    expect(second.output).toMatch(/^The stack already runs in this clone \(process \d+\)/m);
  });

  it('ends with everything it started', async () => {
    expect(await stack?.stop()).toBe(0);
    await expectAllGone(first, 0);
    const logs = await logsOf(directory);
    expect(logs.join('').match(/"level":"(error|fatal)".*/g)).toBeNull();
  });

  it('goes on with the same chain, index and credential', async () => {
    await start().shows();
    const facts = await stack?.facts();
    expect(facts).toMatchObject({
      chainId: first.chainId,
      stakeContract: first.stakeContract,
      partner: first.partner,
    });
    if (facts) first = facts;
    expect(await rpc(first, 'eth_getBlockByNumber', '0x200', true)).toEqual(oldBlock);
    await stack?.shows('Redemption 2: ');
    // The second redemption's points may be back already.
    expect(pointsOf(stack?.output ?? '').slice(0, 2)).toEqual([995_000, 990_000]);
  });

  it('leaves nothing behind when it is killed, and recovers', async () => {
    // The chain's newest blocks are not on disk yet, so the index is ahead of the chain at the next start.
    const head = Number(await rpc(first, 'eth_blockNumber'));
    await eventually(async () => Number(await rpc(first, 'eth_blockNumber')) >= head + 3);
    stack?.child.kill('SIGKILL');
    await stack?.ended;
    await expectAllGone(first, 15_000);
    await start().shows();
    expect(stack?.output).toContain('X-API-SIGNATURE verified');
    expect((await stack?.facts())?.chainId).toBe(first.chainId);
    // Waits for a redemption after the restart: the earlier final claims are still final.
    await stack?.shows('Redemption 2: ');
  });

  it('ends and says why where a part dies', async () => {
    const running = stack;
    if (!running) throw new Error('nothing runs');
    first = await running.facts();
    const pidFile = await readFile(join(directory, '.data/postgres/postmaster.pid'), 'utf8');
    process.kill(Number(pidFile.split('\n')[0]), 'SIGKILL');
    expect(await running.ended).toBe(1);
    expect(running.output).toContain('PostgreSQL ended with signal SIGKILL. The end of its log:');
    await expectAllGone(first, 0);
  });

  it('names the variable where a port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = (other.address() as AddressInfo).port;
    const failing = RunningStack.start(directory, { ...environment, API_PORT: String(port) });
    expect(await failing.ended).toBe(1);
    expect(failing.output.trim()).toBe(
      `Port ${port} is taken by another program. Choose another one: API_PORT=${port + 10} npm start`,
    );
    other.close();
  });

  it('refuses half a chain', async () => {
    const failing = RunningStack.start(directory, { ...environment, STAKE_CONTRACT: '0x1' });
    expect(await failing.ended).toBe(1);
    expect(failing.output).toContain('STAKE_CONTRACT is set and RPC_URLS is not');
  });

  it('makes no key in place of one that is gone', async () => {
    const path = join(directory, '.data/stack.json');
    const before = await readFile(path, 'utf8');
    for (const key of ['secretsKey', 'evidenceKey']) {
      const facts = JSON.parse(before) as Record<string, unknown>;
      await writeFile(path, JSON.stringify({ ...facts, [key]: undefined }));
      const failing = RunningStack.start(directory, environment);
      expect(await failing.ended).toBe(1);
      expect(failing.output).toContain(`${key} is missing in .data/stack.json`);
    }
    await writeFile(path, before);
  });

  it('starts over when asked to, and can be ended in the middle of it', async () => {
    const running = start('--fresh');
    await running.shows('plays six weeks');
    expect(await running.stop()).toBe(0);
    const facts: Partial<StackFacts> = await running.facts();
    expect(facts.partner).toBeUndefined();
    expect(facts.secretsKey).not.toBe(first.secretsKey);
  });
});

/** The second column of a timeline. */
function stagesOf(timeline: string): string[] {
  return [...timeline.matchAll(/^ {4}\d\d:\d\d:\d\d {2}(.{12})/gm)]
    .map(([, stage = '']) => stage.trim())
    .filter((stage) => !['deducting', 'deducted', 'reverting', '…'].includes(stage));
}

function pointsOf(timeline: string): number[] {
  const shown = timeline.matchAll(/ points +([\d,]+) at /g);
  return [...shown].map(([, points = '']) => Number(points.replaceAll(',', '')));
}

function logsOf(directory: string): Promise<string[]> {
  const names = ['indexer', 'api', 'redemption', 'console', 'partner'];
  return Promise.all(
    names.map((name) => readFile(join(directory, `.data/logs/${name}.log`), 'utf8')),
  );
}

function isListening(url: string): Promise<boolean> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });
}

function servicesOf(facts: StackFacts): string[] {
  const { apiUrl, indexerUrl, redemptionUrl, consoleUrl, partnerUrl } = facts;
  return [apiUrl, indexerUrl, redemptionUrl, consoleUrl, partnerUrl];
}

async function expectAllGone(facts: StackFacts, withinMs: number): Promise<void> {
  const urls = [...servicesOf(facts), facts.rpcUrl, facts.databaseUrl];
  await eventually(
    async () => !(await Promise.all(urls.map(isListening))).includes(true),
    withinMs,
  );
}
