import {
  CHAIN_ID_SETTING,
  FINALITY_SETTING,
  PAYOUT_EXPIRY_MARGIN_SETTING,
  refuseSharedEvidenceKey,
  RPC_URLS_SETTING,
  Setting,
  TOKEN_CONTRACT_SETTING,
} from '#libs/config';
import { type Address } from '#libs/domain';
import { EvidenceKeys } from '#libs/signing';

/** With what the chain is asked about a redemption; without them `chainEvidence` says so. */
export class EvidenceSettings {
  @Setting(CHAIN_ID_SETTING)
  readonly chainId!: number;

  @Setting(RPC_URLS_SETTING)
  readonly rpcUrls!: string[];

  @Setting(FINALITY_SETTING)
  readonly finality!: string;

  @Setting(TOKEN_CONTRACT_SETTING)
  readonly tokenContract!: Address;

  @Setting(PAYOUT_EXPIRY_MARGIN_SETTING)
  readonly payoutExpiryMarginSeconds!: number;
}

interface KeySettings {
  readonly evidenceKey: string;
  readonly secretsKey?: string | undefined;
}

/** The keys that vouch for rows. @throws PermanentError where they are unusable, or one of SECRETS_KEY is among them */
export function evidenceKeys({ evidenceKey, secretsKey }: KeySettings): EvidenceKeys {
  if (secretsKey !== undefined) refuseSharedEvidenceKey(evidenceKey, secretsKey);
  return EvidenceKeys.parse(evidenceKey);
}
