/**
 * What each program may do with each table: the one place where it is said. `migrate` gives these rights and takes all others, the
 * services and `doctor` hold their own rights against it, and program-rights.int-spec.ts tries every cell.
 */

/** The programs that connect at run time, and the role without login that holds the rights of each. */
export const PROGRAM_ROLES = {
  api: 'lowmark_reader',
  indexer: 'lowmark_index_writer',
  redemption: 'lowmark_redeemer',
  cli: 'lowmark_operator',
} as const;

export type Program = keyof typeof PROGRAM_ROLES;
export const PROGRAMS = Object.keys(PROGRAM_ROLES) as readonly Program[];

/** The letters of PostgreSQL's access lists. */
export const PRIVILEGES = { r: 'SELECT', a: 'INSERT', w: 'UPDATE', d: 'DELETE' } as const;
export type Letter = keyof typeof PRIVILEGES;
/** What no program may do with any table. */
export const REFUSED_PRIVILEGES = ['TRUNCATE', 'REFERENCES', 'TRIGGER'] as const;

type Row = readonly [table: string, api: string, indexer: string, redemption: string, cli: string];

/** A new table is a new line here. r: read, a: add, w: change, d: remove; -: nothing. */
// prettier-ignore
const ROWS: readonly Row[] = [
  // table                                  api   indexer  redemption  cli
  ['lowmark.migration',                     'r',  'r',     'r',        'r'],
  ['partners.partner',                      'r',  '-',     'r',        'raw'],
  ['partners.credential',                   'r',  '-',     '-',        'raw'],
  ['partners.callback',                     '-',  '-',     'r',        'raw'],
  ['staking.index_state',                   'r',  'raw',   '-',        'r'],
  ['staking.block',                         '-',  'rawd',   '-',        'r'],
  ['staking.balance_change',                '-',  'rad',   '-',        'r'],
  ['staking.balance_day',                   'r',  'rawd',  '-',        'r'],
  ['staking.balance_interval',              '-',  '-',     '-',        'r'],
  ['staking.price',                         'r',  'raw',   'r',        'r'],
  ['staking.price_hold',                    'r',  'rawd',  'r',        'rw'],
  ['staking.price_acceptance',              'r',  'r',     'r',        'ra'],
  ['staking.audit_run',                     '-',  'rad',   '-',        'r'],
  ['redemption.redemption',                 '-',  '-',     'raw',      'rw'],
  ['redemption.transition',                 '-',  '-',     'ra',       'ra'],
  ['redemption.partner_call',               '-',  '-',     'raw',      'raw'],
  ['redemption.confirmation',               '-',  '-',     'raw',      'raw'],
  ['redemption.idempotency_key',            '-',  '-',     'ra',       '-'],
  ['redemption.audit',                      '-',  '-',     'ra',       'ra'],
  ['redemption.nonce',                      '-',  '-',     'rad',      '-'],
  ['redemption.session',                    '-',  '-',     'rad',      '-'],
  ['redemption.reconciliation_checkpoint',  '-',  '-',     'raw',      'ra'],
  ['redemption.reconciliation_run',         '-',  '-',     'ra',       'r'],
  ['redemption.vault_claim',                '-',  '-',     'rawd',     'r'],
  ['redemption.ledger_restore',             '-',  '-',     'r',        'ra'],
  ['redemption.coin_spent',                 '-',  '-',     'raw',      '-'],
  ['redemption.claim_watch',                '-',  '-',     'raw',      'r'],
  ['redemption.claim_alarm',                '-',  '-',     'raw',      'r'],
  ['redemption.task',                       '-',  '-',     'rw',       '-'],
  ['redemption.reserved',                   '-',  '-',     '-',        '-'],
  ['redemption.released',                   '-',  '-',     '-',        '-'],
  ['redemption.vain_attempt',               '-',  '-',     'rawd',     '-'],
  ['redemption.claim_acknowledgement',      '-',  '-',     'r',        'ra'],
];

/** The schemas that are ours. A table of theirs that has no line in the table above may be used by no program. */
export const SCHEMAS = ['lowmark', 'partners', 'staking', 'redemption'] as const;
export const TABLES: readonly string[] = ROWS.map(([table]) => table);

/** Letters in the order of the access lists. */
export function rightsOf(program: Program, table: string): readonly Letter[] {
  const row = ROWS.find(([name]) => name === table);
  const cell = row?.[PROGRAMS.indexOf(program) + 1] ?? '-';
  return cell === '-' ? [] : (Array.from(cell) as Letter[]);
}

/** The schemas that a program looks into. */
export function schemasOf(program: Program): readonly string[] {
  const used = TABLES.filter((table) => rightsOf(program, table).length > 0);
  return SCHEMAS.filter((schema) => used.some((table) => table.startsWith(`${schema}.`)));
}
