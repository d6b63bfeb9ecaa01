/** Compares one day of the chain with the claims of the api, the registry, a known root and a list. */
import { createReadStream } from 'node:fs';
import { dayText } from '#libs/domain';
import { type ChainDay } from './chain-days.js';
import { UncheckedError } from './verify.error.js';
import { type Published } from './registry.js';
import { type ServiceApi } from './service-api.js';
import { type Difference, firstDifference, readWalletLines } from './wallet-list.js';

export type Result = 'agrees' | 'differs' | 'unchecked';

export interface Comparison {
  readonly with: 'api' | 'registry' | 'root' | 'list';
  readonly result: Result;
  /** The root that the other side claims. */
  readonly root?: string;
  readonly revision?: number;
  /** The root of the revision before, by the api. */
  readonly previousRoot?: string;
  /** The id of the public key that signed the answer of the api. */
  readonly signedBy?: string;
  /** The first wallet on which both differ, where it could be found. */
  readonly difference?: Difference;
  /** Why the comparison was not made, or why no wallet is named. */
  readonly reason?: string;
}

/** The sources that the chain is compared with, besides the registry. */
export interface Others {
  readonly api?: ServiceApi;
  readonly root?: string;
  /** The path of a file. */
  readonly list?: string;
}

interface ClaimedRoot {
  readonly root: string;
  readonly revision?: number;
  readonly previousRoot?: string;
  readonly signedBy?: string;
}

export class Comparer {
  constructor(
    private readonly others: Others,
    private readonly onProgress: (text: string) => void,
  ) {}

  /** @param published the claim of the registry */
  async compare(chain: ChainDay, published?: Published): Promise<Comparison[]> {
    const { api, root, list } = this.others;
    const day = dayText(chain.day);
    const found: Comparison[] = [];
    if (api !== undefined) found.push(await this.with('api', chain, () => api.day(day)));
    if (published !== undefined) {
      found.push(await this.with('registry', chain, () => rootIn(published)));
    }
    if (root !== undefined)
      found.push(await this.with('root', chain, () => Promise.resolve({ root })));
    if (list !== undefined) found.push(await this.withList(chain, list));
    return found;
  }

  private async with(
    name: Comparison['with'],
    chain: ChainDay,
    say: () => Promise<ClaimedRoot>,
  ): Promise<Comparison> {
    let said: ClaimedRoot;
    try {
      const { root, revision, previousRoot, signedBy } = await say();
      said = {
        root,
        ...(revision !== undefined && { revision }),
        ...(previousRoot !== undefined && { previousRoot }),
        ...(signedBy && { signedBy }),
      };
    } catch (error) {
      return { with: name, result: 'unchecked', reason: reasonOf(error) };
    }
    if (said.root === chain.root) return { with: name, result: 'agrees', ...said };
    return { with: name, result: 'differs', ...said, ...(await this.named(chain, said.root)) };
  }

  private async withList(chain: ChainDay, file: string): Promise<Comparison> {
    try {
      const difference = await firstDifference(chain.list, listOf(file));
      return {
        with: 'list',
        result: difference ? 'differs' : 'agrees',
        ...(difference && { difference }),
      };
    } catch (error) {
      return { with: 'list', result: 'unchecked', reason: reasonOf(error) };
    }
  }

  /** The first wallet on which the other root differs. The api, where there is one, proves what that root says. */
  private async named(
    chain: ChainDay,
    root: string,
  ): Promise<Pick<Comparison, 'difference' | 'reason'>> {
    const { api, list } = this.others;
    const day = dayText(chain.day);
    if (api === undefined && list === undefined) {
      return { reason: 'give --api or --list to have the wallet named' };
    }
    this.onProgress(`looks for the first wallet of ${day} that differs`);
    try {
      const listed = list !== undefined ? listOf(list) : api?.wallets(day, root);
      const difference = listed && (await firstDifference(chain.list, listed));
      if (difference === undefined)
        return { reason: 'its list is that of the chain, and not of its root' };
      if (api === undefined) return { difference };
      const proven = await api.provenLow(day, difference.wallet, root);
      if (proven === difference.chain) {
        return {
          reason: `its list differs at wallet ${difference.wallet}, of which its root says the same as the chain`,
        };
      }
      return { difference: { ...difference, listed: proven } };
    } catch (error) {
      return { reason: `the wallet could not be found: ${reasonOf(error)}` };
    }
  }
}

function rootIn(published: Published): Promise<ClaimedRoot> {
  if ('root' in published) return Promise.resolve(published);
  return Promise.reject(new UncheckedError(published.reason));
}

function listOf(file: string): ReturnType<typeof readWalletLines> {
  return readWalletLines(createReadStream(file), 'The file of --list');
}

function reasonOf(error: unknown): string {
  if (error instanceof UncheckedError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined) return `The file of --list cannot be read (${code}).`;
  throw error;
}
