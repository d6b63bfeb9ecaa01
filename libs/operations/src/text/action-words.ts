/** Actions named in advice and refusals: as commands to type, or by the titles of the buttons of a page. */
import { type UuidV7 } from '#libs/domain';
import {
  ACTION_COMMANDS,
  type ActionName,
  CANDIDATES,
  REPLAY_TITLE,
} from '../redemptions/actions.js';

/** @param id of the redemption, if the text is about a certain one */
export type ActionWords = (action: ActionName, id?: UuidV7) => string;

export const asCommand: ActionWords = (action, id) => {
  const command = ACTION_COMMANDS[action];
  const parts: string[] = [command, ...(id === undefined ? [] : [id])];
  if (action === 'set-partner-tx' && id !== undefined) parts.push('TRANSACTION');
  if (command === 'redemption resolve') parts.push(`--${action}`);
  if (action === 'settled-by-hand') parts.push('NOTE');
  return `\`${parts.join(' ')}\``;
};

export const asTitle: ActionWords = (action) => {
  const title = CANDIDATES.find((one) => one.action === action)?.title ?? REPLAY_TITLE;
  return `“${title}”`;
};
