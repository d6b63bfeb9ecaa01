import { type Database, type Statement } from '#libs/db';
import { type Address } from '#libs/domain';
import { type PointsBalance, Refusal } from '#libs/partner-sdk';

export interface NewPlayer {
  readonly wallet: Address;
  readonly points: number;
}

const ADD: Statement = {
  text: `INSERT INTO game.player (partner_user_id, wallet, points)
    SELECT 'player_' || substr(wallet, 3), wallet, points FROM unnest($1::text[], $2::bigint[]) AS given (wallet, points)
    ON CONFLICT (wallet) DO NOTHING`,
};

/** Adds players for a demonstration or a test; existing players keep their points. */
export async function seedPlayers(
  database: Database,
  players: readonly NewPlayer[],
): Promise<void> {
  await database.query(ADD, [
    players.map(({ wallet }) => wallet),
    players.map(({ points }) => points),
  ]);
}

/** The chain of the players' wallets. */
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
