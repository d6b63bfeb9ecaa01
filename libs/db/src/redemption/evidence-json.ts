/** Evidence and calls as jsonb: block numbers and amounts are strings there. */
import {
  type Address,
  type BlockHash,
  type BlockRef,
  type DeadEvidence,
  type OpenCall,
  type PaidEvidence,
} from '#libs/domain';

interface BlockJson {
  number: string;
  hash: string;
  timestampSeconds: number;
}

interface EventJson {
  transactionHash: string;
  block: BlockJson;
}

export type DeadJson = { outcome: 'dead'; finalised: BlockJson } & (
  { reason: 'expired' } | ({ reason: 'cancelled' } & EventJson)
);

export type PaidJson = {
  outcome: 'paid';
  finalised: BlockJson;
  recipient: string;
  amount: string;
} & EventJson;

export function deadJson(evidence: DeadEvidence): DeadJson {
  const { outcome, reason } = evidence;
  const finalised = blockJson(evidence.finalised);
  return reason === 'expired'
    ? { outcome, reason, finalised }
    : {
        outcome,
        reason,
        finalised,
        transactionHash: evidence.transactionHash,
        block: blockJson(evidence.block),
      };
}

export function deadOf(json: DeadJson): DeadEvidence {
  const { outcome, reason } = json;
  const finalised = blockOf(json.finalised);
  return reason === 'expired'
    ? { outcome, reason, finalised }
    : {
        outcome,
        reason,
        finalised,
        transactionHash: json.transactionHash,
        block: blockOf(json.block),
      };
}

export function paidJson(evidence: PaidEvidence): PaidJson {
  const { outcome, transactionHash, recipient, amount } = evidence;
  const [finalised, block] = [blockJson(evidence.finalised), blockJson(evidence.block)];
  return { outcome, finalised, transactionHash, block, recipient, amount: amount.toString() };
}

export function paidOf(json: PaidJson): PaidEvidence {
  const { outcome, transactionHash } = json;
  return {
    outcome,
    finalised: blockOf(json.finalised),
    transactionHash,
    block: blockOf(json.block),
    recipient: json.recipient as Address,
    amount: BigInt(json.amount),
  };
}

/** Only what an open call is made of, whatever else the object carries. */
export function openCallJson({ step, requestId, startedAtMs, target }: OpenCall): OpenCall {
  return { step, requestId, startedAtMs, ...(target === undefined ? {} : { target }) };
}

function blockJson({ number, hash, timestampSeconds }: BlockRef): BlockJson {
  return { number: number.toString(), hash, timestampSeconds };
}

function blockOf({ number, hash, timestampSeconds }: BlockJson): BlockRef {
  return { number: BigInt(number), hash: hash as BlockHash, timestampSeconds };
}
