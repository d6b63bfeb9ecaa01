/**
 * What each program may do with each table: the one place where it is said. `migrate` gives these rights and takes all others, the
 * services and `doctor` hold their own rights against it, and program-rights.int-spec.ts tries every cell.
 */
import { type Statement } from '../connection/database.js';
import { named } from '../connection/named.js';
import { inDefaultSet, SET_SCHEMAS } from '../stake-sets/stake-set.js';

/** The programs that connect at run time, and the role without login that holds the rights of each. */
export const PROGRAM_ROLES = {
  api: 'lowmark_reader',
  indexer: 'lowmark_index_writer',
  redemption: 'lowmark_redeemer',
  cli: 'lowmark_operator',
  console: 'lowmark_console',
  portal: 'lowmark_portal',
} as const;

export type Program = keyof typeof PROGRAM_ROLES;
export const PROGRAMS = Object.keys(PROGRAM_ROLES) as readonly Program[];

/** The letters of PostgreSQL's access lists. */
export const PRIVILEGES = { r: 'SELECT', a: 'INSERT', w: 'UPDATE', d: 'DELETE' } as const;
export type Letter = keyof typeof PRIVILEGES;
/** What no program may do with any table. */
export const REFUSED_PRIVILEGES = ['TRUNCATE', 'REFERENCES', 'TRIGGER'] as const;

type Row = readonly [
  table: string,
  api: string,
  indexer: string,
  redemption: string,
  cli: string,
  console: string,
  portal: string,
];

/** A new table is a new line here. r: read, a: add, w: change, d: remove; -: nothing. */
// prettier-ignore
const ROWS: readonly Row[] = [
  // table                                  api    indexer  redemption  cli    console   portal
  ['lowmark.migration',                     'r',   'r',     'r',        'r',   'r',      '-'],
  ['lowmark.stake_set',                     'r',   'r',     'r',        'r',   'r',      '-'],
  ['partners.partner',                      'r',   '-',     'r',        'raw', 'raw',    '-'],
  ['partners.credential',                   'r',   '-',     '-',        'raw', 'raw',    '-'],
  ['partners.callback',                     '-',   '-',     'r',        'raw', 'raw',    '-'],
  ['partners.request',                      '-',   '-',     '-',        '-',   'r',      '-'],
  ['staking.index_state',                   'r',   'raw',   'r',        'r',   'r',      '-'],
  ['staking.block',                         '-',   'rawd',  '-',        'r',   'r',      '-'],
  ['staking.balance_change',                'r',   'rad',   'r',        'r',   'r',      '-'],
  ['staking.balance_day',                   'r',   'rawd',  'r',        'r',   'r',      '-'],
  ['staking.balance_interval',              '-',   '-',     '-',        'r',   'r',      '-'],
  ['staking.price',                         'r',   'raw',   'r',        'r',   'r',      '-'],
  ['staking.price_hold',                    'r',   'rawd',  'r',        'rw',  'rw',     '-'],
  ['staking.price_acceptance',              'r',   'r',     'r',        'ra',  'ra',     '-'],
  ['staking.audit_run',                     '-',   'rad',   '-',        'r',   'r',      '-'],
  ['staking.sealed_day',                    'r',   'ra',    'r',        'r',   'r',      '-'],
  ['staking.sealed_leaves',                 'r',   'rad',   '-',        'r',   'r',      '-'],
  ['staking.sealed_nodes',                  'r',   'rad',   '-',        'r',   'r',      '-'],
  ['staking.seal_recheck',                  '-',   'rawd',  'r',        'r',   'r',      '-'],
  ['redemption.redemption',                 '-',   '-',     'raw',      'rw',  'rw',     '-'],
  ['redemption.transition',                 '-',   '-',     'ra',       'ra',  'ra',     '-'],
  ['redemption.partner_call',               '-',   '-',     'raw',      'raw', 'raw',    '-'],
  ['redemption.confirmation',               '-',   '-',     'raw',      'raw', 'raw',    '-'],
  ['redemption.idempotency_key',            '-',   '-',     'ra',       '-',   '-',      '-'],
  ['redemption.audit',                      '-',   '-',     'ra',       'ra',  'ra',     '-'],
  ['redemption.nonce',                      '-',   '-',     'rad',      '-',   '-',      '-'],
  ['redemption.session',                    '-',   '-',     'rad',      '-',   '-',      '-'],
  ['redemption.reconciliation_checkpoint',  '-',   '-',     'raw',      'ra',  'ra',     '-'],
  ['redemption.reconciliation_run',         '-',   '-',     'ra',       'r',   'r',      '-'],
  ['redemption.vault_claim',                '-',   '-',     'rawd',     'r',   'r',      '-'],
  ['redemption.ledger_restore',             '-',   '-',     'r',        'ra',  'ra',     '-'],
  ['redemption.coin_spent',                 '-',   '-',     'raw',      '-',   '-',      '-'],
  ['redemption.claim_watch',                '-',   '-',     'raw',      'r',   'r',      '-'],
  ['redemption.claim_alarm',                '-',   '-',     'raw',      'r',   'r',      '-'],
  ['redemption.task',                       '-',   '-',     'rw',       '-',   '-',      '-'],
  ['redemption.reserved',                   '-',   '-',     '-',        '-',   '-',      '-'],
  ['redemption.released',                   '-',   '-',     '-',        '-',   '-',      '-'],
  ['redemption.vain_attempt',               '-',   '-',     'rawd',     '-',   '-',      '-'],
  ['redemption.claim_acknowledgement',      '-',   '-',     'r',        'ra',  'ra',     '-'],
  ['redemption.registry_publication',       '-',   '-',     'raw',      'rw',  'rw',     '-'],
  ['redemption.registry_transaction',       '-',   '-',     'ra',       'r',   'r',      '-'],
  ['console.session',                       '-',   '-',     '-',        'rd',  'rawd',   '-'],
  ['console.nonce',                         '-',   '-',     '-',        '-',   'rad',    '-'],
  ['console.login_attempt',                 '-',   '-',     '-',        '-',   'rad',    '-'],
  ['console.sign_in_link',                  '-',   '-',     '-',        'ra',  'rawd',   '-'],
  ['console.invitation',                    '-',   '-',     '-',        'raw', 'raw',    '-'],
  ['console.member',                        '-',   '-',     '-',        'rw',  'raw',    '-'],
  ['console.approval',                      '-',   '-',     '-',        'r',   'raw',    '-'],
  ['console.conformance_deduction',         '-',   '-',     '-',        '-',   'rawd',   '-'],
  ['webhooks.subscription',                 '-',   '-',     'rwd',      'raw', 'raw',    '-'],
  ['webhooks.secret',                       '-',   '-',     'rd',       'raw', 'raw',    '-'],
  ['webhooks.event',                        '-',   '-',     'rawd',     'raw', 'raw',    '-'],
  ['webhooks.lane',                         '-',   '-',     'rwd',      'raw', 'raw',    '-'],
  ['webhooks.attempt',                      '-',   '-',     'rad',      'r',   'r',      '-'],
  ['webhooks.told_day',                     '-',   '-',     'ra',       '-',   '-',      '-'],
  ['webhooks.tier_cursor',                  '-',   '-',     'rwd',      'raw', 'raw',    '-'],
  ['webhooks.wallet_tier',                  '-',   '-',     'rawd',     '-',   '-',      '-'],
  ['portal.partner',                        '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.credential',                     '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.callback',                       '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.redemption',                     '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.transition',                     '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.partner_call',                   '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.confirmation',                   '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.request',                        '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.member',                         '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.conformance_deduction',          '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.webhook_subscription',           '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.webhook_event',                  '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.webhook_attempt',                '-',   '-',     '-',        '-',   '-',      'r'],
];

/**
 * The schemas that are ours, besides those of stake sets, which are as `staking`. A table of theirs that has no line in the table above may be used by no program.
 */
export const SCHEMAS = [
  'lowmark',
  'partners',
  'staking',
  'redemption',
  'console',
  'webhooks',
  'portal',
] as const;
export const TABLES: readonly string[] = ROWS.map(([table]) => table);

const SET_SCHEMAS_THERE = named<{ pattern: string }>(
  'set_schemas',
  'SELECT nspname::text AS schema FROM pg_namespace WHERE nspname ~ :pattern ORDER BY 1',
);

/** All that are ours in a database, those of its stake sets too. */
export async function readSchemas(
  query: (statement: Statement) => Promise<{ readonly schema: string }[]>,
): Promise<string[]> {
  const rows = await query(SET_SCHEMAS_THERE({ pattern: SET_SCHEMAS }));
  return [...SCHEMAS, ...rows.map(({ schema }) => schema)];
}

/** The tables that a schema has. */
export function tablesOf(schema: string): string[] {
  return TABLES.filter((table) => table.startsWith(`${inDefaultSet(schema)}.`)).map((table) =>
    table.replace(/^[^.]*/, schema),
  );
}

/** Letters in the order of the access lists. */
export function rightsOf(program: Program, table: string): readonly Letter[] {
  const name = inDefaultSet(table);
  const row = ROWS.find(([known]) => known === name);
  const cell = row?.[PROGRAMS.indexOf(program) + 1] ?? '-';
  return cell === '-' ? [] : (Array.from(cell) as Letter[]);
}

/** Whether this version knows a table; those of a newer one have other rights than it could tell. */
export function isKnownTable(table: string): boolean {
  return TABLES.includes(inDefaultSet(table));
}

/** Whether a program looks into a schema. */
export function usesSchema(program: Program, schema: string): boolean {
  return tablesOf(schema).some((table) => rightsOf(program, table).length > 0);
}
