/** Evidence and calls in jsonb columns, where block numbers and amounts are strings. */
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

type DeadJson = { outcome: 'dead'; finalised: BlockJson } & (
  { reason: 'expired' } | ({ reason: 'cancelled' } & EventJson)
);

type PaidJson = {
  outcome: 'paid';
  finalised: BlockJson;
  recipient: string;
  amount: string;
} & EventJson;

/** The keys of evidence. Other keys of the object are left out. */
const EVIDENCE_KEYS = [
  ...['outcome', 'reason', 'finalised', 'transactionHash', 'recipient', 'amount'],
  ...['block', 'number', 'hash', 'timestampSeconds'],
];

export function evidenceJson(evidence: DeadEvidence | PaidEvidence): string {
  return JSON.stringify(evidence, (key, value: unknown) => {
    if (key !== '' && !EVIDENCE_KEYS.includes(key)) return undefined;
    return typeof value === 'bigint' ? value.toString() : value;
  });
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

/** Writes only the fields of an open call, whatever else the object has. */
export function openCallJson({ step, requestId, startedAtMs, target }: OpenCall): string {
  return JSON.stringify({ step, requestId, startedAtMs, target });
}

function blockOf({ number, hash, timestampSeconds }: BlockJson): BlockRef {
  return { number: BigInt(number), hash: hash as BlockHash, timestampSeconds };
}
