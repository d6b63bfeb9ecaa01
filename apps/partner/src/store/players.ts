import { type Database, type Statement } from '#libs/db';
import { type Address } from '#libs/domain';

export interface NewPlayer {
  readonly wallet: Address;
  readonly points: number;
}

const ADD: Statement = {
  text: `INSERT INTO game.player (partner_user_id, wallet, points)
    SELECT 'player_' || substr(wallet, 3), wallet, points FROM unnest($1::text[], $2::bigint[]) AS given (wallet, points)
    ON CONFLICT (wallet) DO NOTHING`,
};

/** Makes players for a demonstration or a test; those who exist keep what they have. */
export async function seedPlayers(
  database: Database,
  players: readonly NewPlayer[],
): Promise<void> {
  await database.query(ADD, [
    players.map(({ wallet }) => wallet),
    players.map(({ points }) => points),
  ]);
}
