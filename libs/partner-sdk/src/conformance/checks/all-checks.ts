import { ACCESS_CHECKS } from './access.checks.js';
import { type Check, type CheckRows } from './check.js';
import { FORM_CHECKS } from './form.checks.js';
import { POINTS_CHECKS } from './points.checks.js';
import { REVERT_CHECKS } from './revert.checks.js';

const ALL = { ...ACCESS_CHECKS, ...POINTS_CHECKS, ...REVERT_CHECKS, ...FORM_CHECKS };

export type CheckId = keyof typeof ALL;

/** All checks by their ids, in the order of the report. */
export const CHECKS = Object.fromEntries(
  Object.entries<CheckRows[string]>(ALL).map(([id, row]) => [id, { severity: 'error', ...row }]),
) as Readonly<Record<CheckId, Check>>;

export const CHECK_IDS = Object.keys(ALL) as readonly CheckId[];
