/**
 * The rights of each program on each table, defined only here. `migrate` gives exactly these rights, the services and
 * `doctor` compare their own rights with them, and program-rights.int-spec.ts tests every cell.
 */
import { named, type Statement } from '../connection/named.js';
import { inDefaultSet, SET_SCHEMAS } from '../connection/stake-set.js';

/** Programs that connect at run time, each with the role that holds its rights and cannot log in. */
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

/** Privileges by their letters in PostgreSQL's access lists. */
export const PRIVILEGES = { r: 'SELECT', a: 'INSERT', w: 'UPDATE', d: 'DELETE' } as const;
export type Letter = keyof typeof PRIVILEGES;
/** Privileges that no program has on any table. */
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

/** One line per table. r: read, a: add, w: change, d: remove; -: nothing. */
// prettier-ignore
const ROWS: readonly Row[] = [
  // table                                  api    indexer  redemption  cli    console   portal
  ['lowmark.migration',                     'r',   'r',     'r',        'r',   'r',      '-'],
  ['lowmark.stake_set',                     'r',   'r',     'r',        'r',   'r',      '-'],
  ['partners.partner',                      'r',   '-',     'r',        'raw', 'raw',    '-'],
  ['partners.credential',                   'r',   '-',     '-',        'raw', 'raw',    '-'],
  ['partners.callback',                     '-',   '-',     'r',        'raw', 'raw',    '-'],
  ['partners.request',                      '-',   '-',     '-',        '-',   'r',      '-'],
  ['partners.correction',                   '-',   '-',     '-',        'r',   'r',      '-'],
  ['partners.corrected_days',               '-',   '-',     '-',        'r',   'r',      '-'],
  ['partners.corrected_answer',             '-',   '-',     '-',        'r',   'r',      '-'],
  ['staking.index_state',                   'r',   'raw',   'r',        'r',   'r',      '-'],
  ['staking.block',                         '-',   'rawd',  '-',        'r',   'r',      '-'],
  ['staking.balance_change',                'r',   'rad',   '-',        'r',   'r',      '-'],
  ['staking.balance_day',                   'r',   'rawd',  '-',        'r',   'r',      '-'],
  ['staking.balance_interval',              '-',   '-',     '-',        'r',   'r',      '-'],
  ['staking.day_total',                     '-',   'rawd',  '-',        'r',   'r',      '-'],
  ['staking.price',                         'r',   'raw',   'r',        'r',   'r',      '-'],
  ['staking.price_hold',                    'r',   'rawd',  'r',        'rw',  'rw',     '-'],
  ['staking.price_acceptance',              'r',   'r',     'r',        'ra',  'ra',     '-'],
  ['staking.audit_run',                     '-',   'rad',   '-',        'r',   'r',      '-'],
  ['staking.sealed_day',                    'r',   'ra',    'r',        'r',   'r',      '-'],
  ['staking.sealed_leaves',                 'r',   'rad',   '-',        'r',   'r',      '-'],
  ['staking.sealed_nodes',                  'r',   'rad',   '-',        'r',   'r',      '-'],
  ['staking.seal_recheck',                  '-',   'rawd',  'r',        'r',   'r',      '-'],
  ['staking.finding',                       'r',   'ra',    'r',        'r',   'r',      '-'],
  ['staking.doubtful_day',                  'r',   'rd',    '-',        'r',   'r',      '-'],
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
  ['redemption.unnoted_restore',            '-',   '-',     'ra',       'r',   'r',      '-'],
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
  ['console.granted_role',                  '-',   '-',     '-',        '-',   'raw',    '-'],
  ['console.member_limit',                  '-',   '-',     '-',        '-',   'rawd',   '-'],
  ['console.conformance_run',               '-',   '-',     '-',        '-',   'rawd',   '-'],
  ['console.conformance_deduction',         '-',   '-',     '-',        '-',   'rawd',   '-'],
  ['webhooks.subscription',                 '-',   '-',     'rwd',      'raw', 'raw',    '-'],
  ['webhooks.secret',                       '-',   '-',     'rd',       'raw', 'raw',    '-'],
  ['webhooks.event',                        '-',   '-',     'rawd',     'raw', 'raw',    '-'],
  ['webhooks.lane',                         '-',   '-',     'rwd',      'raw', 'raw',    '-'],
  ['webhooks.attempt',                      '-',   '-',     'rad',      'r',   'r',      '-'],
  ['webhooks.told_day',                     '-',   '-',     'ra',       '-',   '-',      '-'],
  ['portal.partner',                        '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.credential',                     '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.callback',                       '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.redemption',                     '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.transition',                     '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.partner_call',                   '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.confirmation',                   '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.request',                        '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.corrected_answer',               '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.member',                         '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.conformance_run',                '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.conformance_deduction',          '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.webhook_subscription',           '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.webhook_event',                  '-',   '-',     '-',        '-',   '-',      'r'],
  ['portal.webhook_attempt',                '-',   '-',     '-',        '-',   '-',      'r'],
];

/**
 * The schemas of this project, except those of further stake sets, which are like `staking`. No program may use a table
 * in them that ROWS does not list.
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

/** All schemas of this project in a database, including those of its stake sets. */
export async function readSchemas(
  query: (statement: Statement) => Promise<{ readonly schema: string }[]>,
): Promise<string[]> {
  const rows = await query(SET_SCHEMAS_THERE({ pattern: SET_SCHEMAS }));
  return [...SCHEMAS, ...rows.map(({ schema }) => schema)];
}

export function tablesOf(schema: string): string[] {
  return TABLES.filter((table) => table.startsWith(`${inDefaultSet(schema)}.`)).map((table) =>
    table.replace(/^[^.]*/, schema),
  );
}

/** The letters in the order of PostgreSQL's access lists. */
export function rightsOf(program: Program, table: string): readonly Letter[] {
  const name = inDefaultSet(table);
  const row = ROWS.find(([known]) => known === name);
  const cell = row?.[PROGRAMS.indexOf(program) + 1] ?? '-';
  return cell === '-' ? [] : (Array.from(cell) as Letter[]);
}

/** Whether this version knows the table. It cannot tell the rights on the tables of a newer version. */
export function isKnownTable(table: string): boolean {
  return TABLES.includes(inDefaultSet(table));
}

/** Whether a program has a right on any table of a schema. */
export function usesSchema(program: Program, schema: string): boolean {
  return tablesOf(schema).some((table) => rightsOf(program, table).length > 0);
}
