import { ACCESS_CHECKS } from './access.checks.js';
import { type Check } from './check.js';
import { FORM_CHECKS } from './form.checks.js';
import { POINTS_CHECKS } from './points.checks.js';
import { REVERT_CHECKS } from './revert.checks.js';

const ALL = { ...ACCESS_CHECKS, ...POINTS_CHECKS, ...REVERT_CHECKS, ...FORM_CHECKS };

export type CheckId = keyof typeof ALL;

/** Every rule that is tried, by its id, in the order of the report. */
export const CHECKS: Readonly<Record<CheckId, Check>> = ALL;

export const CHECK_IDS = Object.keys(ALL) as readonly CheckId[];
