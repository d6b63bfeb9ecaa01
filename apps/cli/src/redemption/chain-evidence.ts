import { readSettings, SettingsError, type SettingsSource } from '#libs/config';
import { RpcPool, VaultReader } from '#libs/chain';
import { type StoredRedemption } from '#libs/db';
import { LowmarkError, payableUntilSeconds, type PayoutEvidence } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { EvidenceSettings } from '../cli.env.js';

/** What the chain says now, or why it was not asked or did not say. */
export type LiveEvidence =
  | { readonly asked: true; readonly evidence: PayoutEvidence }
  | { readonly asked: false; readonly why: string };

const TIMEOUT_MS = 10_000;

/** The evidence about a redemption's payout at the newest final block, from the vault that its plan names. Never throws what can be told. */
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
  const { rpcUrls, chainId, finality, tokenContract: token } = settings;
  const { payoutExpiryMarginSeconds: marginSeconds } = settings;
  if (chainId !== place.chainId) {
    return {
      asked: false,
      why: `the voucher is of chain ${place.chainId}, CHAIN_ID is ${chainId}`,
    };
  }
  try {
    const pool = new RpcPool({ urls: rpcUrls, clock, timeoutMs: TIMEOUT_MS });
    await pool.verifyChainId(chainId);
    const reader = new VaultReader(pool, {
      vault: place.vault,
      token,
      finality,
      marginSeconds,
    });
    const deadlineSeconds = payableUntilSeconds(redemption);
    const watched = { ...plan, deadlineSeconds, redemptionId: id, fromBlock: place.fromBlock };
    const [evidence = { outcome: 'live' as const }] = await reader.observe([watched]);
    return { asked: true, evidence };
  } catch (error) {
    if (!(error instanceof LowmarkError)) throw error;
    return { asked: false, why: `${error.message} [${error.code}]` };
  }
}

function settingsOrFaults(source: SettingsSource): EvidenceSettings | string {
  try {
    return readSettings(EvidenceSettings, source);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [...error.faults].map(([variable, fault]) => `${variable} ${fault}`).join('; ');
  }
}
