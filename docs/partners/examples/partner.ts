/** The four callbacks on the SDK, for the quick start: `node partner.ts` beside the installed @lowmark/partner-sdk. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { expressCallbacks, Refusal } from '@lowmark/partner-sdk';

// Stands for your database. There, svcRedemptionId is a unique key, and each handler is one transaction.
interface Player {
  readonly id: string;
  points: number;
}
interface Deduction {
  readonly transactionId: string;
  readonly player: Player;
  readonly address: string;
  readonly points: number;
  revertId?: string;
  outcome?: 'claimed' | 'reverted';
}
const players = new Map<string, Player>();
const deductions = new Map<string, Deduction | 'refused'>();
players.set((process.env.WALLET ?? '').toLowerCase(), { id: 'player-1', points: 50_000 });
// For the tester: a player who has nothing.
players.set(`0x${'e'.repeat(40)}`, { id: 'player-2', points: 0 });

function playerOf(address: string): Player {
  const player = players.get(address);
  if (!player) throw new Refusal('ERR-USER-NOT-FOUND', 'No player has this wallet.');
  return player;
}

const callbacks = expressCallbacks(
  {
    apiKey: process.env.CALLBACK_KEY ?? '',
    sharedSecret: process.env.CALLBACK_SECRET ?? '',
    basePath: '/game',
  },
  {
    getPoints({ address }) {
      const { id, points } = playerOf(address);
      return { partnerUserId: id, points, chain: 'ethereum' };
    },

    deductPoints({ address, deductPoints: points, svcRedemptionId }) {
      const earlier = deductions.get(svcRedemptionId);
      if (earlier !== undefined) throw duplicate(earlier, address, points);
      const player = playerOf(address);
      if (player.points < points) {
        throw new Refusal('ERR-INSUFFICIENT-POINTS', 'The player has fewer points than that.');
      }
      player.points -= points;
      const transactionId = `ptx_${randomUUID()}`;
      deductions.set(svcRedemptionId, { transactionId, player, address, points });
      return { partnerTransactionId: transactionId };
    },

    revertDeduction({ svcRedemptionId, partnerTransactionId, address, deductPoints }) {
      const found = deductions.get(svcRedemptionId);
      // A tombstone: a deduction that comes after its revert is refused.
      if (found === undefined) deductions.set(svcRedemptionId, 'refused');
      if (found === undefined || found === 'refused') throw notFound();
      if ((partnerTransactionId ?? found.transactionId) !== found.transactionId) throw notFound();
      if (found.revertId !== undefined) {
        throw new Refusal('ERR-ALREADY-REVERTED', 'The points were given back before.');
      }
      if (deductPoints !== found.points) {
        throw new Refusal('ERR-INVALID-AMOUNT', 'deductPoints is not what was deducted.');
      }
      if (address !== found.address || found.outcome === 'claimed') {
        throw new Refusal('ERR-INTERNAL', 'This contradicts our books.');
      }
      found.revertId = `prv_${randomUUID()}`;
      found.player.points += found.points;
      return { partnerTransactionId: found.transactionId, partnerRevertId: found.revertId };
    },

    confirmRedemption({ svcRedemptionId, status }) {
      const found = deductions.get(svcRedemptionId);
      if (found === undefined || found === 'refused') {
        throw new Refusal('ERR-REDEMPTION-NOT-FOUND', 'There is no such deduction.');
      }
      if ((status === 'reverted') !== (found.revertId !== undefined)) {
        throw new Refusal('ERR-INTERNAL', 'This contradicts our books.');
      }
      found.outcome = status;
    },
  },
);

function duplicate(earlier: Deduction | 'refused', address: string, points: number): Refusal {
  const stands =
    earlier !== 'refused' &&
    earlier.revertId === undefined &&
    earlier.address === address &&
    earlier.points === points;
  // Names the deduction, so that a lost answer is found again; only where it stands.
  const extra = stands ? { partnerTransactionId: earlier.transactionId } : {};
  return new Refusal('ERR-DUPLICATE-REQUEST', 'This redemption was already processed.', extra);
}

function notFound(): Refusal {
  return new Refusal('ERR-TRANSACTION-NOT-FOUND', 'There is no such deduction.');
}

const server = createServer(callbacks).listen(Number(process.env.PORT ?? 4100), '127.0.0.1');
server.once('listening', () => console.log('listening on', server.address()));
