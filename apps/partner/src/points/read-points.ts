import { type Database, type Statement } from '#libs/db';
import { type PointsBalance, Refusal } from '#libs/partner-sdk';

/** The chain that the players' wallets are of. */
const CHAIN = 'ethereum';

const READ: Statement = {
  name: 'game_points',
  text: 'SELECT partner_user_id, points FROM game.player WHERE wallet = $1',
};

/** @throws Refusal ERR-USER-NOT-FOUND */
export async function readPoints(database: Database, address: string): Promise<PointsBalance> {
  const [player] = await database.query<{ partner_user_id: string; points: string }>(READ, [
    address,
  ]);
  if (player === undefined) throw userNotFound();
  const { partner_user_id: partnerUserId, points } = player;
  return { partnerUserId, points: Number(points), chain: CHAIN };
}

export function userNotFound(): Refusal {
  return new Refusal('ERR-USER-NOT-FOUND', 'No player has this wallet.');
}
