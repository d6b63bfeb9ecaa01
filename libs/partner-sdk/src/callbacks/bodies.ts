/** Validates the four calls field by field, as the tables of the interface define them. */
import { parseAddress } from '../address.js';
import { Refusal } from './call.js';
import { type Confirmation, type Deduction, type PointsQuery, type Revert } from './handlers.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const HASH = /^0x[0-9a-f]{64}$/i;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
/** Databases cannot store U+0000, and UTF-8 cannot encode a lone surrogate. */
const UNSTORABLE = /[\0\p{Cs}]/u;

const address: Field<string> = { read: parseAddress, expected: '0x and 40 hex digits' };

const points: Field<number> = {
  read: (value) => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined),
  expected: `a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`,
};

const uuid: Field<string> = {
  read: (value) => matching(value, UUID)?.toLowerCase(),
  expected: 'a UUID',
};

const hash: Field<string> = {
  read: (value) => matching(value, HASH)?.toLowerCase(),
  expected: '0x and 64 hex digits',
};

const amount: Field<number> = {
  read: (value) =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined,
  expected: 'a number, 0 or more',
};

const flag: Field<boolean> = {
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  expected: 'true or false',
};

const time: Field<string> = {
  read: (value) => {
    const text = matching(value, ISO_TIME);
    return text !== undefined && !Number.isNaN(Date.parse(text)) ? text : undefined;
  },
  expected: 'a time in ISO 8601',
};

function text(maxLength: number): Field<string> {
  return {
    read: (value) =>
      typeof value === 'string' && value.length <= maxLength && !UNSTORABLE.test(value)
        ? value
        : undefined,
    expected: `a text of at most ${maxLength} characters`,
  };
}

const id: Field<string> = {
  read: (value) => text(255).read(value) || undefined,
  expected: 'a text of 1 to 255 characters',
};

function orNull<T>({ read, expected }: Field<T>): Field<T | null> {
  return {
    read: (value) => (value === null ? null : read(value)),
    expected: `${expected}, or null`,
  };
}

function matching(value: unknown, pattern: RegExp): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
}

export const POINTS_QUERY: Fields<PointsQuery> = { address };

export const DEDUCTION: Fields<Deduction> = {
  address,
  deductPoints: points,
  svcRedemptionId: uuid,
};

export const REVERT: Fields<Revert> = {
  ...DEDUCTION,
  partnerTransactionId: { ...id, optional: true },
  revertReason: { ...text(1000), optional: true },
};

export const CONFIRMATION: Fields<Confirmation> = {
  ...DEDUCTION,
  usdAmount: amount,
  svcAmount: amount,
  priceSvcUsd: amount,
  status: {
    read: (value) => (value === 'claimed' || value === 'reverted' ? value : undefined),
    expected: 'claimed or reverted',
  },
  txnConfirmed: flag,
  txnHash: { ...orNull(hash), optional: true },
  initialAt: time,
  pendingAt: time,
  claimedAt: orNull(time),
  revertedAt: orNull(time),
};

/** Reads a received value by a table of fields: exact types, no coercion, and every fault is named. */

interface Field<T> {
  /** Returns undefined for a value that does not fit the field. */
  readonly read: (value: unknown) => T | undefined;
  /** The expected form, for the message of a fault. */
  readonly expected: string;
  /** Whether the field may be absent; null does not count as absent. */
  readonly optional?: boolean;
}

export type Fields<T> = { readonly [K in keyof T]-?: Field<NonNullable<T[K]> | T[K]> };

/**
 * Ignores fields that the table does not name, since the interface may grow.
 * @throws Refusal ERR-INTERNAL whose message names all wrong fields
 */
export function readFields<T extends object>(sent: unknown, fields: Fields<T>): T {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw new Refusal('ERR-INTERNAL', 'The body is not usable: it must be a JSON object');
  }
  const result: Partial<T> = {};
  const faults: string[] = [];
  for (const name in fields) {
    const { read, expected, optional = false } = fields[name];
    if (!Object.hasOwn(sent, name)) {
      if (!optional) faults.push(`${name} is missing`);
      continue;
    }
    const value = read((sent as Readonly<Record<string, unknown>>)[name]);
    if (value === undefined) faults.push(`${name} must be ${expected}`);
    else result[name] = value;
  }
  if (faults.length > 0) {
    throw new Refusal('ERR-INTERNAL', `The request is not usable: ${faults.join('; ')}`);
  }
  return result as T;
}
