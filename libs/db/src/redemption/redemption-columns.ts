/** The columns of redemption.redemption, and a row as it is read. */
import {
  type OpenCall,
  type Redemption,
  type RedemptionReason,
  type RedemptionState,
  type ResumableState,
  type RevertReason,
} from '#libs/domain';
import { type DeadJson, type PaidJson } from './evidence-json.js';

/** Written once, in this order. */
export const TERM_COLUMNS = [
  'id',
  'partner',
  'wallet',
  'points',
  'usd_amount',
  'token_amount',
  'token_decimals',
  'price_usd',
  'quote_expires_at',
  'initial_at',
] as const;

/** Written with each transition, in this order; the plan's place is apart. */
export const STATE_COLUMNS = [
  'state',
  'version',
  'reason',
  'revert_reason',
  'resume',
  'exposure',
  'unproven_attempts',
  'open_call',
  'partner_transaction_id',
  'partner_revert_id',
  'candidate_transaction_ids',
  'redemption_id_refuted',
  'plan_recipient',
  'plan_amount',
  'plan_deadline_seconds',
  'dead_evidence',
  'paid_evidence',
  'deduct_attempts',
  'payout_attempts',
  'revert_attempts',
  'first_deduct_at',
  'last_deduct_at',
  'first_revert_at',
  'first_not_found_at',
  'next_action_at',
  'state_since_at',
  'pending_at',
  'deducted_at',
  'authorised_at',
  'claimed_at',
  'reverted_at',
  'failed_at',
] as const;

const PLACE_COLUMNS = ['plan_vault', 'plan_chain_id', 'plan_from_block'] as const;
const ADDRESSES: readonly string[] = ['wallet', 'plan_recipient', 'plan_vault'];

/** What `redemptionOf` reads, of the table alias `r`. */
export const READ_COLUMNS = [...TERM_COLUMNS, ...STATE_COLUMNS, ...PLACE_COLUMNS]
  .map((name) => (ADDRESSES.includes(name) ? `encode(r.${name}, 'hex') AS ${name}` : `r.${name}`))
  .concat('r.evidence_mac', 'r.names_mac', 'r.lost_voucher_until_seconds')
  .join(', ');

export type Moment = Date | null;

export interface RedemptionRow {
  id: string;
  partner: string;
  wallet: string;
  points: string;
  usd_amount: string;
  token_amount: string;
  token_decimals: number;
  price_usd: string;
  quote_expires_at: Date;
  initial_at: Date;
  state: RedemptionState;
  version: number;
  reason: RedemptionReason | null;
  revert_reason: RevertReason | null;
  resume: ResumableState | null;
  exposure: Redemption['exposure'];
  unproven_attempts: number;
  open_call: OpenCall | null;
  partner_transaction_id: string | null;
  partner_revert_id: string | null;
  candidate_transaction_ids: string[];
  redemption_id_refuted: boolean;
  plan_recipient: string | null;
  plan_amount: string | null;
  plan_deadline_seconds: string | null;
  dead_evidence: DeadJson | null;
  paid_evidence: PaidJson | null;
  deduct_attempts: number;
  payout_attempts: number;
  revert_attempts: number;
  first_deduct_at: Moment;
  last_deduct_at: Moment;
  first_revert_at: Moment;
  first_not_found_at: Moment;
  next_action_at: Moment;
  state_since_at: Date;
  pending_at: Moment;
  deducted_at: Moment;
  authorised_at: Moment;
  claimed_at: Moment;
  reverted_at: Moment;
  failed_at: Moment;
  plan_vault: string | null;
  plan_chain_id: string | null;
  plan_from_block: string | null;
  lost_voucher_until_seconds: string | null;
  evidence_mac: Buffer | null;
  names_mac: Buffer | null;
}
