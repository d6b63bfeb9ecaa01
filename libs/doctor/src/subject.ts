import { ANSWERED_PRICE_MAX_AGE_SECONDS, sessionUrl } from '#libs/config';
import { indexedContracts } from '#libs/verification';
import { ChainReader, loadStakeEvents, RpcPool, type StakeEventSpec } from '#libs/chain';
import {
  createDatabase,
  type Database,
  IndexStore,
  type IndexState,
  readSchema,
  SchemaUnsupportedError,
  StakeSetStore,
} from '#libs/db';
import { type Address, LowmarkError } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type PriceReading, priceReader, type SourceReading } from '#libs/price';
import { DEFAULT_EVENTS } from '#libs/operations';
import { type DoctorSettings } from './doctor.settings.js';

const RPC_TIMEOUT_MS = 6000;
/** How long to wait for an endpoint that asks to wait. */
const PATIENCE_MS = 5000;
const STATEMENT_TIMEOUT_MS = 8000;

const MIGRATION_TABLE = {
  text: `SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'lowmark' AND c.relname = 'migration'`,
};

/** The staking contracts and events, by the settings, and by the stored index where the settings are absent. */
export interface Staking {
  readonly contracts: readonly Address[];
  readonly startBlock: bigint | undefined;
  readonly events: readonly StakeEventSpec[];
}

/** Result of one read of the price source, made as the indexer makes it. */
export type SeenPrice =
  | {
      readonly kind: 'read';
      readonly reading: PriceReading;
      /** Readings of the single sources, where there are several. */
      readonly sources: readonly SourceReading[];
    }
  | {
      readonly kind: 'failed';
      readonly error: LowmarkError;
      readonly sources: readonly SourceReading[];
    }
  /** PRICE_SOURCE is `none` or not set. */
  | { readonly kind: 'off' }
  /** A source is a contract, and no endpoint of its chain answers. */
  | { readonly kind: 'no-chain' };

/** The systems that the checks examine. Each is opened once, at its first use. */
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

  /**
   * Opens the database, even with a schema of a newer program. @throws DatabaseUnavailableError, DatabaseRefusedError
   */
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

  /**
   * The database in the schema of the settings' stake set. @throws UnknownStakeSetError, and the errors of `database`
   */
  async stakes(): Promise<Database> {
    return new StakeSetStore(await this.database()).open(this.settings.stakeSet);
  }

  /**
   * Whether `migrate` has ever run, and not that of a development version; works without the right to read the table.
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  hasSchema(): Promise<boolean> {
    this.migrated ??= this.isMigrated();
    return this.migrated;
  }

  private async isMigrated(): Promise<boolean> {
    const database = await this.database();
    if ((await database.query(MIGRATION_TABLE)).length === 0) return false;
    try {
      await readSchema(database);
      return true;
    } catch (error) {
      if (error instanceof SchemaUnsupportedError) return false;
      throw error;
    }
  }

  /** Undefined where there is no database, no schema or no index. */
  index(): Promise<IndexState | undefined> {
    this.indexing ??= this.readIndex();
    return this.indexing;
  }

  async chainId(): Promise<number | undefined> {
    return this.settings.chainId ?? (await this.index())?.chainId;
  }

  /** All endpoints of RPC_URLS; address one of them by its name. */
  get pool(): RpcPool {
    this.endpoints ??= this.newPool();
    return this.endpoints;
  }

  /** The endpoints that serve the right chain; undefined where there is none. */
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
        ? // The indexer stored this value from the same type.
          (state.settings['events'] as readonly StakeEventSpec[])
        : await loadStakeEvents(stakeEvents ?? DEFAULT_EVENTS);
    return {
      contracts: stakeContract ?? stored?.contracts ?? [],
      startBlock: stakeStartBlock ?? stored?.startBlock,
      events,
    };
  }

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
      // A single endpoint of another chain makes this call fail; later calls leave it out and use the others.
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
      // The checks of the database report this error.
      return undefined;
    }
  }

  private async readPrice(): Promise<SeenPrice> {
    const { priceSource = [], priceMaxAgeSeconds = ANSWERED_PRICE_MAX_AGE_SECONDS } = this.settings;
    const isOnChain = priceSource.some(({ kind }) => kind === 'chainlink');
    const pool = isOnChain ? await this.chain() : undefined;
    if (isOnChain && pool === undefined) return { kind: 'no-chain' };
    const sources: SourceReading[] = [];
    const read = priceReader(priceSource, {
      chain: { latestRound: (feed) => new ChainReader(pool ?? this.pool).latestRound(feed) },
      clock: this.clock,
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

/** Ignores errors that the checks of the endpoints report. */
function ignoreKnown(error: unknown): void {
  if (!(error instanceof LowmarkError)) throw error;
}
