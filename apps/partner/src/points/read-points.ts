import { type Database, type Statement } from '#libs/db';
import { type Address } from '#libs/domain';
import { Refusal } from './refusal.js';

export interface Balance {
  readonly partnerUserId: string;
  readonly address: Address;
  readonly points: number;
  readonly chain: string;
}

/** The chain that the players' wallets are of. */
const CHAIN = 'ethereum';

const READ: Statement = {
  name: 'game_points',
  text: 'SELECT partner_user_id, points FROM game.player WHERE wallet = $1',
};

/** @throws Refusal ERR-USER-NOT-FOUND */
export async function readPoints(database: Database, address: Address): Promise<Balance> {
  const [player] = await database.query<{ partner_user_id: string; points: string }>(READ, [
    address,
  ]);
  if (player === undefined) throw userNotFound();
  const { partner_user_id: partnerUserId, points } = player;
  return { partnerUserId, address, points: Number(points), chain: CHAIN };
}

export function userNotFound(): Refusal {
  return new Refusal('ERR-USER-NOT-FOUND', 'No player has this wallet.');
}
