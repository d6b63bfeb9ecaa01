/** What the chain says now about payouts and vaults. */
import { readVaultFacts, RpcPool, VaultReader } from '#libs/chain';
import {
  CHAIN_ID_SETTING,
  Constant,
  FINALITY_SETTING,
  PAYOUT_EXPIRY_MARGIN_SECONDS,
  readSettings,
  refuseSharedEvidenceKey,
  RPC_URLS_SETTING,
  Setting,
  SettingsError,
  type SettingsSource,
  TOKEN_CONTRACT_SETTING,
} from '#libs/config';
import { type KnownVault, type StoredRedemption } from '#libs/db';
import { type Address, LowmarkError, payableUntilSeconds, type PayoutEvidence } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { EvidenceKeys } from '#libs/signing';
import { OptionError } from '../operation.error.js';

/**
 * Settings for asking the chain about a redemption. Where one is missing or wrong, `chainEvidence` returns the fault.
 */
export class EvidenceSettings {
  @Setting(CHAIN_ID_SETTING)
  readonly chainId!: number;

  @Setting(RPC_URLS_SETTING)
  readonly rpcUrls!: string[];

  @Setting(FINALITY_SETTING)
  readonly finality!: string;

  @Setting(TOKEN_CONTRACT_SETTING)
  readonly tokenContract!: Address;

  @Constant()
  readonly payoutExpiryMarginSeconds: number = PAYOUT_EXPIRY_MARGIN_SECONDS;
}

interface KeySettings {
  readonly evidenceKey: string;
  readonly secretsKey?: string | undefined;
}

/** The keys for the MACs of redemptions. @throws PermanentError where a key is unusable, or is also in SECRETS_KEY */
export function evidenceKeys({ evidenceKey, secretsKey }: KeySettings): EvidenceKeys {
  if (secretsKey !== undefined) refuseSharedEvidenceKey(evidenceKey, secretsKey);
  return EvidenceKeys.parse(evidenceKey);
}

/** What the chain says now, or why there is no answer. */
export type LiveEvidence =
  | { readonly asked: true; readonly evidence: PayoutEvidence }
  | { readonly asked: false; readonly why: string };

const TIMEOUT_MS = 10_000;

/**
 * The evidence about a redemption's payout at the newest final block, from the vault of its plan. Expected errors are
 * returned as `why`.
 */
export async function chainEvidence(
  { redemption, place }: StoredRedemption,
  source: SettingsSource,
  clock: Clock,
): Promise<LiveEvidence> {
  const { plan, id } = redemption;
  if (plan === null || place === null) {
    return {
      asked: false,
      why: 'the ledger has no plan; the service asks the vault before points go back',
    };
  }
  const settings = settingsOrFaults(source);
  if (typeof settings === 'string') return { asked: false, why: settings };
  const { chainId, finality, tokenContract: token, payoutExpiryMarginSeconds } = settings;
  if (chainId !== place.chainId) {
    return {
      asked: false,
      why: `the voucher is of chain ${place.chainId}, CHAIN_ID is ${chainId}`,
    };
  }
  try {
    const pool = await verifiedPool(settings, clock);
    const marginSeconds = payoutExpiryMarginSeconds;
    const reader = new VaultReader(pool, { vault: place.vault, token, finality, marginSeconds });
    const deadlineSeconds = payableUntilSeconds(redemption);
    const watched = { ...plan, deadlineSeconds, redemptionId: id, fromBlock: place.fromBlock };
    const [evidence = { outcome: 'live' as const }] = await reader.observe([watched]);
    return { asked: true, evidence };
  } catch (error) {
    if (!(error instanceof LowmarkError)) throw error;
    return { asked: false, why: `${error.message} [${error.code}]` };
  }
}

async function verifiedPool(
  { rpcUrls, chainId }: EvidenceSettings,
  clock: Clock,
): Promise<RpcPool> {
  const pool = new RpcPool({ urls: rpcUrls, clock, timeoutMs: TIMEOUT_MS });
  await pool.verifyChainId(chainId);
  return pool;
}

function settingsOrFaults(source: SettingsSource): EvidenceSettings | string {
  try {
    return readSettings(EvidenceSettings, source);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [...error.faults].map(([variable, fault]) => `${variable} ${fault}`).join('; ');
  }
}

/** Vaults that a restored ledger does not know. An operator names them, and each must be a vault on the chain. */
export interface ForgottenVaults {
  readonly chainId: number;
  readonly vaults: readonly KnownVault[];
}

/**
 * Checks on the chain that each address is a vault. Points would wait for ever for an address that is not one.
 * @throws SettingsError, OptionError; ChainMismatchError, AllEndpointsFailedError
 */
export async function forgottenVaults(
  vaults: readonly KnownVault[],
  source: SettingsSource,
  clock: Clock,
): Promise<ForgottenVaults | undefined> {
  if (vaults.length === 0) return undefined;
  const settings = readSettings(EvidenceSettings, source);
  const { chainId, tokenContract: token } = settings;
  const pool = await verifiedPool(settings, clock);
  for (const { vault } of vaults) {
    const facts = await readVaultFacts(pool, { place: { chainId, vault }, token, signer: vault });
    if (!facts.hasOurVoucherDomain || facts.token === undefined) {
      throw new OptionError(`--vault: ${vault} is not a redemption vault of chain ${chainId}.`);
    }
  }
  return { chainId, vaults };
}
