/**
 * Compares wallets in the index with the contract's own balances of them: at the end of a first sync, when wallets have
 * changed, each night, and by the command.
 */
import {
  askStatement,
  believed,
  type ChainReader,
  type FigureOptions,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  Quorum,
  type Statement,
  unlessAllFail,
} from '#libs/chain';
import { type AuditDifference, type WalletBalance } from '#libs/db';
import { type BlockRef } from '#libs/domain';
import { type Logger } from '#libs/platform';

interface WalletsCompared {
  /** Number of wallets. */
  readonly compared: number;
  readonly differences: readonly AuditDifference[];
  /** False if no endpoint has the state of the block, or, to look again at what differs, has it any more. */
  readonly isComplete: boolean;
}

/** Asks the endpoints, perhaps several times. */
type Ask = <T>(ask: () => Promise<T>) => Promise<T>;

const once: Ask = (ask) => ask();

export class BalanceAudit {
  /** Providers take turns, so that one provider sees a difference that another hides. */
  private lastAsked: string | undefined;
  private readonly quorum: Quorum;

  constructor(
    private readonly reader: ChainReader,
    private readonly logger: Logger | undefined,
  ) {
    this.quorum = new Quorum(reader.endpoints);
  }

  /**
   * @param balances in the index at the end of the block
   * @throws AllEndpointsFailedError
   */
  async compare(
    balances: readonly WalletBalance[],
    block: BlockRef,
    ask = once,
  ): Promise<WalletsCompared> {
    if (balances.length === 0) return { compared: 0, differences: [], isComplete: true };
    const first = await this.askInTurn(balances, block, ask);
    this.lastAsked = first?.endpoint;
    if (!first) return { compared: 0, differences: [], isComplete: false };
    const doubtful = balances.filter(({ balance }, place) => first.value[place] !== balance);
    const same = balances.length - doubtful.length;
    if (doubtful.length === 0) return { compared: same, differences: [], isComplete: true };
    const told = first.value.filter((value, place) => balances[place]?.balance !== value);
    const said = await this.quorum.confirm(
      (options) => ask(() => this.balancesOf(doubtful, block, options)),
      (one, other) => one.every((value, place) => value === other[place]),
      { endpoint: first.endpoint, value: told },
    );
    if (!said) return { compared: same, differences: [], isComplete: false };
    const differences = this.differencesOf(doubtful, block, said);
    return { compared: balances.length, differences, isComplete: true };
  }

  private differencesOf(
    doubtful: readonly WalletBalance[],
    block: BlockRef,
    said: readonly Statement<readonly bigint[]>[],
  ): AuditDifference[] {
    const endpoints = said.map(({ endpoint }) => endpoint);
    return doubtful.flatMap(({ wallet, balance: indexed }, place) => {
      const told = said.map(({ value }) => value[place] ?? 0n);
      const contract = believed(indexed, told);
      if (contract !== indexed) return [{ wallet, indexed, contract }];
      this.logger?.warn(
        { wallet, block: block.number, indexed, told, endpoints },
        'An endpoint tells another balance than the index and another answer: it is not believed',
      );
      return [];
    });
  }

  /** Asks another provider than the last time; any, if none of the others can answer now. */
  private async askInTurn(
    balances: readonly WalletBalance[],
    block: BlockRef,
    ask: Ask,
  ): Promise<Statement<readonly bigint[]> | undefined> {
    const { lastAsked: endpoint } = this;
    const { endpoints } = this.reader;
    const avoid = endpoint === undefined ? endpoints : ownProvider(endpoint, endpoints);
    const inTurn =
      avoid.length < endpoints.length
        ? await unlessAllFail(
            this.balancesOf(balances, block, { avoid, patienceMs: OUTAGE_PATIENCE_MS }),
          )
        : undefined;
    return inTurn ?? ask(() => this.balancesOf(balances, block, {}));
  }

  private balancesOf(
    balances: readonly WalletBalance[],
    block: BlockRef,
    options: FigureOptions,
  ): Promise<Statement<readonly bigint[]> | undefined> {
    const wallets = balances.map(({ wallet }) => wallet);
    return askStatement((said) =>
      this.reader.stakeBalances(wallets, block, { ...options, ...said }),
    );
  }
}
