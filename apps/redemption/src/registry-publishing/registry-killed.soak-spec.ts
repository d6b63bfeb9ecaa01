/** The service is killed at each step of publishing. Each day is still published once, by one transaction. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { IndexStore, migrate } from '#libs/db';
import { eventually } from '#libs/testing/clock';
import { anInitialIndex, aWallet } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { TestRegistry } from '#libs/testing/registry';
import { RegistryProgram } from './registry-program.support.js';
import { type PublisherUnderTest, RegistryStage, rootOf, TODAY } from './registry-stage.support.js';

const FIRST = TODAY - 10;
const DAYS = [FIRST, FIRST + 1];
const GOLF = aWallet(0x601f);
const GENEROUS_MS = 60_000;

let stage: RegistryStage;
let node: FaultyNode;
const programs: RegistryProgram[] = [];
beforeEach(async () => {
  stage = await RegistryStage.start();
  for (const day of DAYS) await stage.seal(day);
  node = await startFaultyNode({ upstream: stage.chain.url });
});
afterEach(async () => {
  for (const program of programs) program.kill();
  await Promise.all(programs.splice(0).map((program) => program.ended()));
  await node.close();
  await stage.stop();
});

function startProgram(changes: Record<string, string> = {}): RegistryProgram {
  const program = RegistryProgram.start({ ...stage.environment(node.url), ...changes });
  programs.push(program);
  return program;
}

const asks = (method: string) => (calls: readonly { method: string }[]) =>
  calls.some((call) => call.method === method);

/** Moments at which the process is killed: at one of its requests, before the chain has the request or after. */
const MOMENTS: readonly (readonly [string, (kill: () => void) => Fault])[] = [
  ['when it has stored what it signed, and nothing is sent', (kill) => before(SEND, kill)],
  ['when it has sent it, and does not know', (kill) => after(SEND, kill)],
];
const SEND = 'eth_sendRawTransaction';

function before(method: string, kill: () => void): Fault {
  const when = (calls: readonly { method: string }[]): boolean => {
    if (!asks(method)(calls)) return false;
    kill();
    return true;
  };
  return { kind: 'reset', when };
}

function after(method: string, kill: () => void): Fault {
  const change = (call: { method: string }, result: unknown): unknown => {
    if (call.method === method) kill();
    return result;
  };
  return { kind: 'lie', change };
}

/** Runs the service until all days are final, while blocks are mined. */
async function publishAll(one: PublisherUnderTest): Promise<void> {
  const program = startProgram();
  const areFinal = async (): Promise<boolean> => {
    await stage.registry.mine();
    return (await one.views.summary()).final === DAYS.length;
  };
  await eventually(areFinal, { withinMs: GENEROUS_MS, everyMs: 100, what: 'all days are final' });
  program.kill();
  await program.ended();
}

async function expectOnceEach(): Promise<void> {
  expect(await stage.registry.published()).toEqual(DAYS);
  expect(await stage.registry.transactions()).toBe(DAYS.length);
}

describe('a service that is killed', () => {
  it.each(MOMENTS)('%s publishes each day once', async (_, faultOf) => {
    const one = await stage.publisher();
    const killed = startProgram();
    node.fault = faultOf(() => {
      killed.kill();
    });
    await killed.ended();
    node.fault = undefined;
    await publishAll(one);
    await expectOnceEach();
  });

  it('when its transaction is in a block, and it has not seen it, publishes each day once', async () => {
    const one = await stage.publisher();
    const killed = startProgram();
    await eventually(async () => (await stage.registry.waiting()).length === 1, GENEROUS_MS);
    killed.kill();
    await killed.ended();
    await stage.registry.mine();
    await publishAll(one);
    await expectOnceEach();
  });
});

describe('several stake sets', () => {
  it('are published in registries of their own, by one service and one key', async () => {
    const { chain, database, registry } = stage;
    await migrate(database.url, { stakeSets: ['golf'] });
    const golf = await TestRegistry.deploy(chain, registry.publisher, {
      seconds: registry.newestSeconds + 12,
      stakedIn: `eip155:1:${GOLF}`,
    });
    const rows = (await stage.open()).inSet('golf');
    const index = { chainId: 1, stakeContract: GOLF };
    await new IndexStore(rows).create(anInitialIndex(index));
    await stage.seal(FIRST, rootOf(FIRST, 3), undefined, rows);
    const program = startProgram({
      REGISTRY_ADDRESS: `default=${registry.address},golf=${golf.address}`,
    });
    const areThere = async (): Promise<boolean> => {
      await registry.mine();
      return (await registry.published()).length + (await golf.published()).length === 3;
    };
    await eventually(areThere, { withinMs: GENEROUS_MS, everyMs: 100, what: 'three days' });
    program.kill();
    expect(await registry.published()).toEqual(DAYS);
    expect(await golf.rootOf(FIRST)).toBe(rootOf(FIRST, 3));
    expect(await registry.transactions()).toBe(3);
  });
});
