import { type DayWallet, dayWallets } from './day-wallets.js';
import { readDay, readDays, readProof, type SealedDay, type WalletDay } from './days.js';
import { refusalOf } from './exchange.js';
import { requireAddress, requireContract, requireDay, urlOf } from './requests.js';
import { type SignedRequests } from './signed-requests.js';

export interface DayQuery {
  /**
   * The staking contract as a CAIP-10 account id, `eip155:1:0x…`. Default: the contract of the partner account.
   */
  readonly contract?: string;
}

export interface DaysQuery extends DayQuery {
  /** The first day, such as `2026-11-01`. Default: the first day of the contract. */
  readonly from?: string;
  /** The last day. Default: the newest sealed day. */
  readonly to?: string;
}

export interface ProofQuery extends DayQuery {
  /** The root to which the proof must lead, if known from `SnapshotRegistry` or earlier. Default: the answer's root. */
  readonly root?: string;
}

const LIMIT = 366;
const DAY_MS = 86_400_000;

/** Reads sealed days, and proofs against their roots. */
export class DayReader {
  /** @param url the URL of the days, without a query */
  constructor(
    private readonly url: string,
    private readonly requests: SignedRequests,
  ) {}

  async *days({ from, to, contract: text }: DaysQuery): AsyncGenerator<SealedDay, void, undefined> {
    if (from !== undefined) requireDay('from', from);
    const contract = requireContract(text);
    let before = to === undefined ? undefined : dayAfter(requireDay('to', to));
    do {
      const body = await this.read(urlOf(this.url, { limit: LIMIT, before, contract }));
      const { days, next } = readDays(body, { before, limit: LIMIT, contract });
      for (const day of days) {
        if (from !== undefined && day.day < from) return;
        yield day;
      }
      before = next;
    } while (before !== undefined);
  }

  async day(day: string, { contract: text }: DayQuery): Promise<SealedDay> {
    const contract = requireContract(text);
    const body = await this.read(urlOf(`${this.url}/${requireDay('day', day)}`, { contract }));
    return readDay(body, { day, contract });
  }

  async proof(
    day: string,
    wallet: string,
    { contract: text, root }: ProofQuery,
  ): Promise<WalletDay> {
    const address = requireAddress(wallet);
    const contract = requireContract(text);
    const endpoint = `${this.url}/${requireDay('day', day)}/proof`;
    const body = await this.read(urlOf(endpoint, { walletAddress: address, contract }));
    return readProof(body, { day, wallet: address, contract, root: root?.toLowerCase() });
  }

  /** @throws TypeError at once, not in the first `next` */
  wallets(day: string, { contract: text }: DayQuery): AsyncGenerator<DayWallet, SealedDay, void> {
    const asked = { day: requireDay('day', day), contract: requireContract(text) };
    const { contract } = asked;
    const url = urlOf(`${this.url}/${day}/wallets.ndjson`, { contract });
    return dayWallets(() => this.requests.openList(url), asked);
  }

  private async read(url: string): Promise<unknown> {
    const { answer, body } = await this.requests.ask({ url });
    if (answer.status === 200) return body;
    throw refusalOf(answer, body);
  }
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}
