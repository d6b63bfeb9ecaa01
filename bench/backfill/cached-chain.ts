/**
 * A local chain with a long staking history. The chain is made once and cached in a file, since making a million events
 * takes minutes.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  deployStaking,
  type DevChain,
  launchDevChain,
  saveChainState,
  type StakeBlock,
  type StakingDeployment,
  StakingPlayer,
} from '#libs/devchain';
import { Progress, say } from '../support/progress.js';
import { Random } from '../support/random.js';
import { history } from './history.js';

export interface ChainShape {
  readonly events: number;
  readonly blocks: number;
  readonly wallets: number;
}

export interface BenchChain {
  readonly chain: DevChain;
  readonly contracts: StakingDeployment;
  readonly head: bigint;
}

/** Part of the file's name. Increase this number with every change of the history or of the contracts. */
const EDITION = 1;
const CHAIN_ID = 90_210_042;
const START_SECONDS = 1_748_736_000;
/** Blocks that the player plays and checks at once. */
const BLOCKS_AT_ONCE = 100;

/** Starts the chain from its file; makes the file first where there is none. */
export async function cachedChain(folder: string, shape: ChainShape): Promise<BenchChain> {
  const name = `chain-${EDITION}-${shape.events}-${shape.blocks}-${shape.wallets}`;
  const stateFile = join(folder, `${name}.state.json`);
  const factsFile = join(folder, `${name}.facts.json`);
  if (!existsSync(factsFile)) {
    await mkdir(folder, { recursive: true });
    const facts = await makeChain(stateFile, shape);
    await writeFile(factsFile, JSON.stringify(facts, textOfBigInt));
  }
  const facts = JSON.parse(await readFile(factsFile, 'utf8')) as {
    contracts: StakingDeployment & { startBlock: string };
    head: string;
  };
  say(`Starting the local chain with ${shape.events} events …`);
  const chain = await launchDevChain({ stateFile, chainId: CHAIN_ID });
  const contracts = { ...facts.contracts, startBlock: BigInt(facts.contracts.startBlock) };
  return { chain, contracts, head: BigInt(facts.head) };
}

async function makeChain(
  stateFile: string,
  { events, blocks, wallets }: ChainShape,
): Promise<Omit<BenchChain, 'chain'>> {
  const chain = await launchDevChain({
    chainId: CHAIN_ID,
    genesisSeconds: START_SECONDS,
    autoImpersonate: true,
  });
  try {
    const contracts = await deployStaking(chain.rpc, START_SECONDS);
    const player = new StakingPlayer(chain.rpc, contracts);
    const progress = new Progress(`making a chain with ${events} events`, blocks);
    const source = history(new Random(1), {
      blocks,
      eventsPerBlock: events / blocks,
      wallets,
      fromSeconds: START_SECONDS,
    });
    let done = 0;
    for (const part of chunks(source)) {
      await player.play(part);
      progress.at((done += part.length));
    }
    const head = await player.head();
    say('  saving the chain …');
    await saveChainState(chain, stateFile);
    return { contracts, head };
  } finally {
    await chain.stop();
  }
}

function* chunks(blocks: Iterable<StakeBlock>): Generator<StakeBlock[]> {
  let part: StakeBlock[] = [];
  for (const block of blocks) {
    part.push(block);
    if (part.length < BLOCKS_AT_ONCE) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

function textOfBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
