/** Decodes logs into effects on stakes. viem decodes a log as its event is declared; rules refer to fields by name. */
import { type AbiEvent, decodeEventLog, parseAbiItem, toEventSelector } from 'viem';
import { type Address, parseAddress, ZERO_ADDRESS } from '#libs/domain';
import { UncheckedError, UsageError } from './verify.error.js';
import { type StakeRule } from './stake-rules.js';

export type Hex = `0x${string}`;

export interface RawLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: Hex;
  readonly removed?: boolean;
}

/** A change of one wallet's stake; signed, in the token's smallest unit. */
export interface Effect {
  readonly wallet: Address;
  readonly amount: bigint;
}

interface Rule extends StakeRule {
  readonly abi: AbiEvent;
  readonly topic: Hex;
  readonly indexed: number;
}

export class EffectDecoder {
  private readonly rules: readonly Rule[];

  /** @throws UsageError where a rule does not fit its event */
  constructor(rules: readonly StakeRule[]) {
    this.rules = rules.map(ruleOf);
  }

  get topics(): Hex[] {
    return [...new Set(this.rules.map(({ topic }) => topic))];
  }

  /** @throws UncheckedError where the layout of the log differs from the declaration of the event */
  decode(log: RawLog): Effect[] {
    const fitting = this.rules.filter(
      ({ topic, indexed }) => topic === log.topics[0] && indexed === log.topics.length - 1,
    );
    if (fitting.length === 0) throw mismatch(log);
    return fitting.flatMap((rule) => effectsOf(rule, fieldsOf(rule, log)));
  }
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf({ abi }: Rule, log: RawLog): Fields {
  try {
    const topics = log.topics as [Hex, ...Hex[]];
    return decodeEventLog({ abi: [abi], topics, data: log.data, strict: true }).args;
  } catch {
    throw mismatch(log);
  }
}

function effectsOf(rule: Rule, fields: Fields): Effect[] {
  const { where, effect, account, receiver, amount: of } = rule;
  for (const [name, wanted] of Object.entries(where)) {
    if (normalised(String(fields[name])) !== normalised(wanted)) return [];
  }
  const amount = isNumber(of) ? BigInt(of) : (fields[of] as bigint | number);
  const change = BigInt(amount);
  const effects = [
    { wallet: walletOf(fields[account]), amount: effect === 'increase' ? change : -change },
    ...(receiver === undefined ? [] : [{ wallet: walletOf(fields[receiver]), amount: change }]),
  ];
  return effects.filter((one) => one.amount !== 0n && one.wallet !== ZERO_ADDRESS);
}

function ruleOf(rule: StakeRule): Rule {
  let abi: AbiEvent;
  try {
    abi = parseAbiItem(rule.event as 'event E()');
  } catch {
    throw new UsageError(`--events: "${rule.event}" is not an event.`);
  }
  if ((abi.type as string) !== 'event' || abi.anonymous === true) {
    throw new UsageError(`--events: "${rule.event}" is not an event that can be told from others.`);
  }
  requireField(rule, abi, { name: rule.account, type: /^address$/ });
  if (rule.receiver !== undefined)
    requireField(rule, abi, { name: rule.receiver, type: /^address$/ });
  if (!isNumber(rule.amount)) requireField(rule, abi, { name: rule.amount, type: /^uint\d*$/ });
  const values = /^(?:u?int\d*|address|bool|bytes\d+)$/;
  for (const name of Object.keys(rule.where)) requireField(rule, abi, { name, type: values });
  const indexed = abi.inputs.filter((input) => input.indexed === true).length;
  return { ...rule, abi, topic: toEventSelector(abi), indexed };
}

function requireField(
  { event }: StakeRule,
  { inputs }: AbiEvent,
  field: { readonly name: string; readonly type: RegExp },
): void {
  const found = inputs.filter(({ name }) => name === field.name);
  // Where a field has no name, viem returns the fields by position.
  const isNamed = inputs.every(({ name }) => name !== undefined && name !== '');
  const [input] = found;
  if (isNamed && found.length === 1 && input && field.type.test(input.type)) return;
  throw new UsageError(
    `--events: "${field.name}" is no fitting field of "${event}", whose fields all need names.`,
  );
}

function isNumber(text: string): boolean {
  return /^\d{1,78}$/.test(text);
}

function walletOf(value: unknown): Address {
  const wallet = parseAddress(String(value));
  if (wallet === undefined) throw new UncheckedError(`${String(value)} is not an address.`);
  return wallet;
}

/** Normalises a value of an event or of a condition for comparison: numbers in decimal, all else in lower case. */
function normalised(text: string): string {
  return /^(?:-?\d+|0x[0-9a-f]{1,39})$/i.test(text) && !text.startsWith('-0')
    ? BigInt(text).toString()
    : text.toLowerCase();
}

function mismatch(log: RawLog): UncheckedError {
  return new UncheckedError(
    `A log in block ${BigInt(log.blockNumber)} is not laid out as --events says: check its types and the word "indexed".`,
  );
}
