/** An index of a week that is followed, sealed, and falsified by hand; and the operator's command, as a program. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Database } from '#libs/db';
import { type Address } from '#libs/domain';
import { stake, withdraw } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { DAY, MIDNIGHT } from '../../apps/indexer/test/seal-suite.js';
import { START } from '../../apps/indexer/test/suite.js';
import { VerifySuite } from '../verify/verify-suite.js';

const CLI = resolve('dist/apps/cli/src/main.js');
export const REASON = 'a disk lost writes';

export const [ALICE, BOB, CAROL] = [0x1001, 0x1002, 0x1003].map(aWallet) as [
  Address,
  Address,
  Address,
];
export const FIRST_DAY = MIDNIGHT / DAY;
export const DAYS = 7;

export interface CliRun {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class RepairSuite extends VerifySuite {
  /** Seven days after a first one; each wallet moves on each of them. */
  async week(others: readonly Address[] = []): Promise<void> {
    const { player } = this.chain;
    const wallets = [ALICE, BOB, CAROL, ...others];
    await player.block(START + 60, ...wallets.map((wallet) => stake(wallet, 1000n)));
    for (let day = 0; day < DAYS; day += 1) {
      const noon = MIDNIGHT + day * DAY + DAY / 2;
      await player.block(noon, ...wallets.map((wallet) => withdraw(wallet, 50n)));
      await player.block(noon + 3600, ...wallets.map((wallet) => stake(wallet, 70n)));
    }
    await this.finalBlocksFrom(MIDNIGHT + DAYS * DAY);
  }

  /** Runs SQL as a superuser who switches the guards off. */
  async falsify(...statements: string[]): Promise<void> {
    const database = await this.database.open();
    await database.transaction(async (client) => {
      await client.query(`SET LOCAL session_replication_role = 'replica'`);
      for (const statement of statements) await client.query(statement);
    });
  }

  command(...args: string[]): ChildProcess {
    return spawn(process.execPath, [CLI, 'index', 'repair', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: this.database.url,
        RPC_URLS: this.chain.rpc.url,
      },
    });
  }

  async repair(...args: string[]): Promise<CliRun> {
    const child = this.command(...args);
    const [out, err] = [child.stdout, child.stderr].map((one) =>
      text(one as NodeJS.ReadableStream),
    );
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, out: (await out) ?? '', err: (await err) ?? '' };
  }
}

export function dayAt(place: number): number {
  return FIRST_DAY + place;
}

/** A wallet as a literal of SQL. */
export function sqlOf(wallet: Address): string {
  return `'\\x${wallet.slice(2)}'`;
}

export async function rowsOf<T extends object>(database: Database, query: string): Promise<T[]> {
  return database.query<T & object>({ text: query });
}
