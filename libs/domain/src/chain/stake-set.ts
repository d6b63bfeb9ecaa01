/**
 * A stake set is what one indexer indexes: a staking contract of one chain, or several whose balances add up. An installation has the
 * default one, and others by their names.
 */

/** The set that needs no name: an installation of one contract has no other. */
export const DEFAULT_STAKE_SET = 'default';

const NAME = /^[a-z][a-z0-9]{0,30}$/;

export const STAKE_SET_RULE = '1 to 31 lower-case letters and digits, a letter first';

/** The name of a set may stand in SQL, in a metric's label and in a container's name as it is. */
export function isStakeSetName(text: string): boolean {
  return NAME.test(text);
}
