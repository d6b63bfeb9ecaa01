/** `--events`: the name of a preset, or a file as the indexer's setting STAKE_EVENTS takes it. */
import { readFileSync } from 'node:fs';
import { UsageError } from '../verify.error.js';
import { PRESET_NAMES, presetOf, type StakeRule } from './stake-presets.js';

type Json = Readonly<Record<string, unknown>>;

/** @throws UsageError */
export function readStakeRules(setting: string): readonly StakeRule[] {
  const preset = presetOf(setting);
  if (preset !== undefined) return preset;
  let text: string;
  try {
    text = readFileSync(setting, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `--events "${setting}" is neither a preset (${PRESET_NAMES}) nor a file that can be read (${code}).`,
    );
  }
  return parseStakeRules(text);
}

/** @throws UsageError */
export function parseStakeRules(text: string): StakeRule[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError('The file of --events is not JSON.');
  }
  const entries = isObject(value) ? value['events'] : value;
  if (!Array.isArray(entries) || entries.length === 0) {
    throw new UsageError(
      'The file of --events must be a list of events, or an object with such a list as "events".',
    );
  }
  return (entries as unknown[]).map((entry, place) => ruleOf(entry, `Event ${place} of --events`));
}

const FIELDS = ['event', 'account', 'from', 'to', 'amount', 'effect', 'where'];

function ruleOf(entry: unknown, name: string): StakeRule {
  if (!isObject(entry)) throw new UsageError(`${name} must be an object.`);
  const unknown = Object.keys(entry).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) throw new UsageError(`${name} has an unknown key "${unknown}".`);
  const { effect, amount } = entry;
  if (effect !== 'increase' && effect !== 'decrease' && effect !== 'transfer') {
    throw new UsageError(`${name}: "effect" must be increase, decrease or transfer.`);
  }
  const isTransfer = effect === 'transfer';
  const from = entry['account'] ?? entry['from'] ?? (isTransfer ? 'from' : undefined);
  return {
    effect,
    event: required(entry['event'], name, 'event'),
    account: required(from, name, 'account'),
    ...(isTransfer && { receiver: required(entry['to'] ?? 'to', name, 'to') }),
    amount: required(typeof amount === 'number' ? String(amount) : amount, name, 'amount'),
    where: conditionsOf(entry['where'] ?? {}, name),
  };
}

function conditionsOf(where: unknown, name: string): Record<string, string> {
  if (!isObject(where)) throw new UsageError(`${name}: "where" must be an object.`);
  const entries = Object.entries(where).map(([field, value]): [string, string] => {
    const isValue =
      typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
    if (!isValue) throw new UsageError(`${name}: "where.${field}" is no value.`);
    return [field, String(value).trim()];
  });
  return Object.fromEntries(entries);
}

function required(value: unknown, name: string, key: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  throw new UsageError(`${name} needs "${key}".`);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
