/** Days that an index has sealed, and the arguments with which `@lowmark/verify` checks them. */
import { expect } from '@jest/globals';
import { type Abi, encodeDeployData } from 'viem';
import { publishCalldata, snapshotRegistryAbi, snapshotRegistryBytecode } from '#libs/chain';
import { type SealedDay } from '#libs/db';
import { mineOne } from '#libs/devchain';
import { type Address, dayText } from '#libs/domain';
import { HistoryMaker, randomOf } from '../../apps/indexer/test/history.js';
import { type SealBench } from '../../apps/indexer/test/seal-bench.js';
import { DAY, MIDNIGHT, SealSuite } from '../../apps/indexer/test/seal-suite.js';
import { START } from '../../apps/indexer/test/suite.js';
import { type VerifyRun } from './installed-verify.js';

export interface Report {
  readonly result: string;
  readonly days: readonly {
    readonly day: string;
    readonly root: string;
    readonly wallets: number;
    readonly total: string;
    readonly lastBlock: { readonly number: number; readonly hash: string };
    readonly result: string;
    readonly comparisons: readonly Record<string, unknown>[];
  }[];
}

export interface Sealed {
  readonly bench: SealBench;
  /** Oldest first. */
  readonly days: SealedDay[];
}

export class VerifySuite extends SealSuite {
  /** The arguments that name the chain and the days. */
  chainArgs(first: SealedDay, last: SealedDay = first): string[] {
    const { contracts, rpc } = this.chain;
    const days =
      first === last ? dayText(first.day) : `${dayText(first.day)}..${dayText(last.day)}`;
    const from = ['--from-block', String(contracts.startBlock)];
    return ['--rpc', rpc.url, '--contract', contracts.staking, '--day', days, ...from];
  }

  async sealedHistory(seed: number): Promise<Sealed> {
    await this.chain.player.play(new HistoryMaker(randomOf(seed), START).blocks(60));
    return this.sealed();
  }

  async twoSealedDays(options: { readonly keptDays?: number } = {}): Promise<Sealed> {
    await this.twoDays();
    return this.sealed(options);
  }

  private async sealed(options: { readonly keptDays?: number } = {}): Promise<Sealed> {
    const bench = await this.aBench(await this.anIndexer(), options);
    await bench.service.tick();
    return { bench, days: await this.expectSealed(bench) };
  }

  /**
   * Changes a row of the second day directly in the database, which the next sealing detects. @returns the new revision
   */
  async revised(bench: SealBench, low: bigint): Promise<SealedDay> {
    const database = await this.database.open();
    await this.tamper(database, low);
    await database.query({ text: 'INSERT INTO staking.seal_recheck (from_day) VALUES (0)' });
    await bench.service.tick();
    const day = await bench.days.byDay(MIDNIGHT / DAY);
    expect(day).toMatchObject({ revision: 2 });
    return day as SealedDay;
  }

  /** Deploys a registry with the root of one day, in blocks from `seconds` on. @returns its address */
  async publishedRegistry(
    { day, root }: Pick<SealedDay, 'day' | 'root'>,
    seconds = MIDNIGHT + 2 * DAY - 60,
  ): Promise<Address> {
    const { rpc, contracts, chainId } = this.chain;
    const { treasury: from, staking } = contracts;
    const args = [from, DAY, from, `eip155:${chainId}:${staking}`];
    const abi: Abi = snapshotRegistryAbi;
    const data = encodeDeployData({ abi, bytecode: snapshotRegistryBytecode, args });
    const { contractAddress } = await mineOne(rpc, seconds, { from, data });
    const to = contractAddress as Address;
    await mineOne(rpc, seconds + 12, { from, to, data: publishCalldata(day, root) });
    return to;
  }
}

export function ends(days: readonly SealedDay[]): [SealedDay, SealedDay] {
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) throw new Error('days are sealed');
  return [first, last];
}

export const reportOf = ({ out, err }: VerifyRun): Report => {
  if (out === '') throw new Error(err);
  return JSON.parse(out) as Report;
};
