/**
 * A stake set is what one indexer indexes: one staking contract of a chain, or several contracts whose balances add up.
 * An installation has the default set, and may have others, identified by their names.
 */

/** Name of the default set, which is the only set of an installation with one contract. */
export const DEFAULT_STAKE_SET = 'default';

const NAME = /^[a-z][a-z0-9]{0,30}$/;

export const STAKE_SET_RULE = '1 to 31 lower-case letters and digits, a letter first';

/**
 * Whether the text is a valid name of a stake set. A valid name needs no quoting in SQL, in a metric's label or in a
 * container's name.
 */
export function isStakeSetName(text: string): boolean {
  return NAME.test(text);
}
