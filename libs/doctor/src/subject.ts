import { sessionUrl } from '#libs/config';
import { indexedContracts } from '#libs/verification';
import { ChainReader, loadStakeEvents, RpcPool, type StakeEventSpec } from '#libs/chain';
import {
  createDatabase,
  type Database,
  IndexStore,
  type IndexState,
  StakeSetStore,
} from '#libs/db';
import { type Address, LowmarkError } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type PriceReading, priceReader, type SourceReading } from '#libs/price';
import { DEFAULT_EVENTS } from '#libs/operations';
import { type DoctorSettings } from './doctor.settings.js';

const RPC_TIMEOUT_MS = 6000;
/** An endpoint that asks to wait is waited for, so long. */
const PATIENCE_MS = 5000;
const STATEMENT_TIMEOUT_MS = 8000;

const MIGRATION_TABLE = {
  text: `SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'lowmark' AND c.relname = 'migration'`,
};

/** What is to be indexed: by the settings, and where they do not say by the index that there is. */
export interface Staking {
  readonly contracts: readonly Address[];
  readonly startBlock: bigint | undefined;
  readonly events: readonly StakeEventSpec[];
}

/** What the source of the price said when it was asked once, as the indexer asks it. */
export type SeenPrice =
  | {
      readonly kind: 'read';
      readonly reading: PriceReading;
      /** Each of several. */
      readonly sources: readonly SourceReading[];
    }
  | {
      readonly kind: 'failed';
      readonly error: LowmarkError;
      readonly sources: readonly SourceReading[];
    }
  /** PRICE_SOURCE is none or not set. */
  | { readonly kind: 'off' }
  /** A source is a contract, and no endpoint of its chain answers. */
  | { readonly kind: 'no-chain' };

/** What the checks look at. Each part is opened at its first use, and once. */
export class Subject {
  private opening: Promise<Database> | undefined;
  private migrated: Promise<boolean> | undefined;
  private indexing: Promise<IndexState | undefined> | undefined;
  private endpoints: RpcPool | undefined;
  private verifying: Promise<RpcPool | undefined> | undefined;
  private pricing: Promise<SeenPrice> | undefined;

  constructor(
    readonly settings: DoctorSettings,
    readonly clock: Clock,
  ) {}

  /** Also one that a newer program has migrated. @throws DatabaseUnavailableError, DatabaseRefusedError */
  database(): Promise<Database> {
    this.opening ??= createDatabase({
      url: sessionUrl(this.settings) ?? '',
      applicationName: 'lowmark doctor',
      poolSize: 4,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      schema: 'any',
    });
    return this.opening;
  }

  /** For what the stake set of the settings has for itself. @throws UnknownStakeSetError, and as `database` */
  async stakes(): Promise<Database> {
    return new StakeSetStore(await this.database()).open(this.settings.stakeSet);
  }

  /** Whether `migrate` was ever run; also where the user may not read it. @throws DatabaseUnavailableError, DatabaseRefusedError */
  hasSchema(): Promise<boolean> {
    this.migrated ??= this.database()
      .then((database) => database.query(MIGRATION_TABLE))
      .then((rows) => rows.length > 0);
    return this.migrated;
  }

  /** Undefined where there is no database, no schema or no index. */
  index(): Promise<IndexState | undefined> {
    this.indexing ??= this.readIndex();
    return this.indexing;
  }

  /** Of the settings, else of the index. */
  async chainId(): Promise<number | undefined> {
    return this.settings.chainId ?? (await this.index())?.chainId;
  }

  /** All endpoints of RPC_URLS; ask one of them by its name. */
  get pool(): RpcPool {
    this.endpoints ??= this.newPool();
    return this.endpoints;
  }

  /** The endpoints that serve the right chain; undefined where none does. */
  chain(): Promise<RpcPool | undefined> {
    this.verifying ??= this.verified();
    return this.verifying;
  }

  /** @throws PermanentError where STAKE_EVENTS is wrong */
  async staking(): Promise<Staking> {
    const { stakeContract, stakeStartBlock, stakeEvents } = this.settings;
    const state = await this.index();
    const stored = state && indexedContracts(state);
    const events =
      stakeEvents === undefined && state !== undefined
        ? // As the indexer wrote them, from the same type.
          (state.settings['events'] as readonly StakeEventSpec[])
        : await loadStakeEvents(stakeEvents ?? DEFAULT_EVENTS);
    return {
      contracts: stakeContract ?? stored?.contracts ?? [],
      startBlock: stakeStartBlock ?? stored?.startBlock,
      events,
    };
  }

  /** What PRICE_SOURCE says now. */
  price(): Promise<SeenPrice> {
    this.pricing ??= this.readPrice();
    return this.pricing;
  }

  async close(): Promise<void> {
    const opened = await this.opening?.catch(() => undefined);
    await opened?.close();
  }

  private newPool(): RpcPool {
    const { clock, settings } = this;
    const limits = { timeoutMs: RPC_TIMEOUT_MS, patienceMs: PATIENCE_MS };
    return new RpcPool({ urls: settings.rpcUrls ?? [], clock, ...limits });
  }

  private async verified(): Promise<RpcPool | undefined> {
    const pool = this.newPool();
    try {
      const chainId = await this.chainId();
      // One endpoint of another chain is refused here; asked again, the pool leaves it out and goes on with the others.
      if (chainId !== undefined) await pool.verifyChainId(chainId).catch(ignoreKnown);
      await pool.run((session) => session.batch([{ method: 'eth_chainId', params: [] }]));
      return pool;
    } catch (error) {
      ignoreKnown(error);
      return undefined;
    }
  }

  private async readIndex(): Promise<IndexState | undefined> {
    if (this.settings.databaseUrl === undefined) return undefined;
    try {
      return await new IndexStore(await this.stakes()).state();
    } catch {
      // Said by the checks of the database itself.
      return undefined;
    }
  }

  private async readPrice(): Promise<SeenPrice> {
    const { priceSource = [], priceMaxSpread: spread, priceMaxAgeSeconds } = this.settings;
    const isOnChain = priceSource.some(({ kind }) => kind === 'chainlink');
    const pool = isOnChain ? await this.chain() : undefined;
    if (isOnChain && pool === undefined) return { kind: 'no-chain' };
    const sources: SourceReading[] = [];
    const read = priceReader(priceSource, {
      chain: { latestRound: (feed) => new ChainReader(pool ?? this.pool).latestRound(feed) },
      clock: this.clock,
      spread,
      maxAgeSeconds: priceMaxAgeSeconds,
      onSource: (reading) => void sources.push(reading),
    });
    if (read === undefined) return { kind: 'off' };
    try {
      return { kind: 'read', reading: await read(), sources };
    } catch (error) {
      if (error instanceof LowmarkError) return { kind: 'failed', error, sources };
      throw error;
    }
  }
}

/** What the checks of the endpoints tell. */
function ignoreKnown(error: unknown): void {
  if (!(error instanceof LowmarkError)) throw error;
}
