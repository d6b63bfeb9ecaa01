/**
 * What vouches for the events of a range before they are written (docs/decisions/0003). A pure choice from what the
 * deployment offers, which the indexer and `doctor` share.
 */
import { type SettingOptions } from '#libs/config';
import { type Address, type BlockRef, PermanentError } from '#libs/domain';
import {
  AllEndpointsFailedError,
  NodeBehindError,
  OverloadedError,
  type RpcError,
  StateUnavailableError,
  TransportError,
  unlessAllFail,
  unlessNeverValid,
} from '../rpc/rpc.errors.js';
import { type ChainReader } from './chain-reader.js';
import { type FigureOptions } from '../calls/stake-views.js';
import { accepted, askStatement, Quorum, type Statement } from '../quorum/quorum.js';
import { countProviders } from '../rpc/endpoint-urls.js';

export const VERIFICATION_MODES = ['total', 'two', 'wallets', 'none'] as const;
export type VerificationMode = (typeof VERIFICATION_MODES)[number];

export type VerificationSetting = 'auto' | VerificationMode;

/** @throws Error saying what the setting may be */
function parseVerification(text: string): VerificationSetting {
  const found = (['auto', ...VERIFICATION_MODES] as const).find((mode) => mode === text);
  if (!found) throw new Error(`must be auto, ${VERIFICATION_MODES.join(', ')}`);
  return found;
}

/** What events can be compared with. */
export interface VerificationOffer {
  /** Where the contracts' total can be read: at past blocks too, at recent ones only, or not at all. */
  readonly total: 'history' | 'recent' | 'none';
  /** Whether the contracts report a wallet's balance. */
  readonly balances: boolean;
  /** Why views that the settings name do not answer, one sentence each. */
  readonly unanswered?: readonly string[];
  /** Number of providers among the endpoints: hosts of different domains. */
  readonly providers: number;
  /** How many of them give valid logs; absent: all. `auto` does not choose `two` for fewer than two, if it can. */
  readonly validProviders?: number;
}

export interface Verification {
  readonly mode: VerificationMode;
  /** Why this mode, in one sentence for an operator. */
  readonly reason: string;
  /** Faults that this mode does not find. */
  readonly cannotFind: string;
  /**
   * Whether the contract's total is compared at past blocks too, in any mode; else only above the newest final block.
   */
  readonly comparesPastTotals: boolean;
}

const CANNOT_FIND: Readonly<Record<VerificationMode, string>> = {
  total:
    'With one provider: a missing transfer between two wallets, until one of the two is compared (the nightly audit finds it); false times.',
  two: 'What both providers tell alike that is not so.',
  wallets:
    'With one provider: a wallet whose events are all left out, each time they are asked for; false times. A second provider would show it.',
  none: 'Events of final blocks that the provider leaves out or changes. Nothing vouches for them, so no day is sealed or published.',
};

/**
 * `auto` never chooses `none`.
 * @throws PermanentError saying what to change, where the deployment does not offer what STAKE_VERIFICATION asks for
 */
export function chooseVerification(
  setting: VerificationSetting,
  offer: VerificationOffer,
): Verification {
  const { mode, why } =
    setting === 'auto'
      ? bestMode(offer)
      : { mode: setting, why: `STAKE_VERIFICATION=${setting} is set.` };
  const lack = lackOf(mode, offer);
  if (lack !== undefined) throw impossible(mode, lack);
  return {
    mode,
    reason: [why, ...(offer.unanswered ?? [])].join(' '),
    cannotFind: CANNOT_FIND[mode],
    comparesPastTotals: offer.total === 'history',
  };
}

function impossible(setting: VerificationSetting, what: string): PermanentError {
  return new PermanentError('VERIFICATION_IMPOSSIBLE', `STAKE_VERIFICATION=${setting}: ${what}`);
}

/** @throws PermanentError where nothing can vouch for events, because only an operator may choose `none` */
function bestMode(offer: VerificationOffer): { mode: VerificationMode; why: string } {
  const mode = bestOf(offer);
  if (mode !== undefined) return { mode, why: reasonFor(mode, offer) };
  const [unanswered] = offer.unanswered ?? [];
  if (unanswered === undefined) throw impossible('auto', NOTHING_VOUCHES);
  throw new PermanentError('STAKE_VIEW_UNANSWERED', unanswered);
}

const NOTHING_VOUCHES =
  'nothing vouches for the events. There is one provider, and no contract tells its total or a wallet’s balance. ' +
  'Add an endpoint of another company to RPC_URLS, or set totalView or balanceView in STAKE_EVENTS to a function of the contract. ' +
  'Or set STAKE_VERIFICATION=none: events then count as the provider gives them, and no day is sealed or published.';

type VouchingMode = Exclude<VerificationMode, 'none'>;

function bestOf(offer: VerificationOffer): VouchingMode | undefined {
  const { total, balances, providers, validProviders = providers } = offer;
  if (total === 'history') return 'total';
  if (validProviders >= 2) return 'two';
  if (balances) return 'wallets';
  if (total === 'recent') return 'total';
  // Nothing else can vouch, so that the second provider is waited for.
  return providers >= 2 ? 'two' : undefined;
}

function lackOf(
  mode: VerificationMode,
  { total, balances, providers }: VerificationOffer,
): string | undefined {
  if (mode === 'total' && total === 'none') {
    return 'no contract tells its total. Set totalView in STAKE_EVENTS to a function that does, or choose another mode.';
  }
  if (mode === 'two' && providers < 2) {
    return 'RPC_URLS names endpoints of one provider only. Add one of another provider, or choose another mode.';
  }
  if (mode === 'wallets' && !balances) {
    return 'no contract tells a wallet’s balance. Set balanceView in STAKE_EVENTS to a function that does, or choose another mode.';
  }
  return undefined;
}

function reasonFor(mode: VouchingMode, { total }: VerificationOffer): string {
  switch (mode) {
    case 'total':
      return total === 'history'
        ? 'The contract tells its total, at past blocks too.'
        : 'The contract tells its total, at recent blocks only: past events are compared once the newest blocks are reached.';
    case 'two':
      return `${NO_TOTAL[total]}; there are two providers.`;
    case 'wallets':
      return `${NO_TOTAL[total]} and there is one provider; the contract tells each wallet’s balance.`;
  }
}

const NO_TOTAL: Readonly<Record<VerificationOffer['total'], string>> = {
  history: 'There is a total',
  recent: 'No endpoint has the contract’s total at past blocks',
  none: 'The contract tells no total',
};

/** Any wallet shows whether balances are reported; some contracts refuse the zero address. */
const ANY_WALLET = `0x${'1'.padStart(40, '0')}` as Address;

/**
 * Asks the endpoints what events can be compared with. Where there are two providers, the total at past blocks is
 * offered only if both report the same total, because one alone must not choose how events are verified.
 * @param past a block whose state shows whether the total can be read at past blocks: the one before the first missing
 * block
 * @throws AllEndpointsFailedError
 */
export async function readVerificationOffer(
  reader: ChainReader,
  past: BlockRef,
): Promise<VerificationOffer> {
  const { latest } = await reader.heads();
  const balances = await reader.stakeBalances([ANY_WALLET], latest);
  const total = await totalOffered(reader, past, latest);
  return {
    total,
    unanswered: reader.unansweredViews,
    balances: balances !== undefined,
    providers: countProviders(reader.endpoints),
    validProviders: countProviders(await reader.endpointsWithLogs(latest)),
  };
}

/**
 * Undefined also where the chain does not have the block any more, or where endpoints lack its state and no other
 * endpoint answers.
 */
async function totalAt(
  reader: ChainReader,
  block: BlockRef,
  options?: FigureOptions,
): Promise<bigint | undefined> {
  try {
    return await reader.stakeTotal(block, options);
  } catch (error) {
    if (error instanceof AllEndpointsFailedError && isGone(error.failures)) return undefined;
    throw error;
  }
}

function isGone(failures: readonly RpcError[]): boolean {
  if (failures.some((failure) => failure instanceof NodeBehindError)) return true;
  const stateless = failures.filter((failure) => failure instanceof StateUnavailableError);
  // An endpoint that is only busy may well have the state.
  const silent = failures.filter(
    (failure) => failure instanceof TransportError && !(failure instanceof OverloadedError),
  );
  return stateless.length > 0 && stateless.length + silent.length === failures.length;
}

async function isTotalKept(
  reader: ChainReader,
  past: BlockRef,
  patience: { readonly patienceMs?: number },
): Promise<boolean> {
  const equal = (one: bigint, other: bigint): boolean => one === other;
  const asked: (Statement<bigint> | undefined)[] = [];
  const ask = async (options: FigureOptions): Promise<Statement<bigint> | undefined> => {
    const said = askStatement((named) =>
      totalAt(reader, past, { ...patience, ...options, ...named }),
    );
    // Another provider without a valid answer has no total.
    const statement = await (options.avoid ? unlessNeverValid(said) : said);
    asked.push(statement);
    return statement;
  };
  // An outage of a provider does not change the mode.
  const said = await new Quorum(reader.endpoints).ask(ask, equal);
  return !asked.includes(undefined) && accepted(said, equal) !== undefined;
}

/** How often all endpoints are asked before past totals count as missing, because the mode follows from it. */
const LOOKS = 3;

async function totalOffered(
  reader: ChainReader,
  past: BlockRef,
  latest: BlockRef,
): Promise<VerificationOffer['total']> {
  for (let look = 1; look <= LOOKS && reader.hasTotal; look++) {
    // Only the first look waits for endpoints.
    const patience = look === 1 ? {} : { patienceMs: 0 };
    const asked = isTotalKept(reader, past, patience);
    if (await (look === 1 ? asked : unlessAllFail(asked))) return 'history';
  }
  return (await totalAt(reader, latest)) === undefined ? 'none' : 'recent';
}

export const STAKE_VERIFICATION_SETTING: SettingOptions = {
  description:
    'How events are verified before they count. With total, by the contract’s total at the end of each range. With two, by a second provider. With wallets, by the contract’s balance of each wallet. With none, not at all, and no day is sealed or published. With auto, by the first of total, two and wallets that is available; without any the indexer does not start.',
  default: 'auto',
  parse: parseVerification,
};
